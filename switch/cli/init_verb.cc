// `dlcp-switch init`: a commented sample to begin with. Never overwrites.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "switch/cli/sample.h"
#include "switch/cli/verbs.h"

namespace dlcp::fabric::cli {
namespace {

ExitCode write_sample(const std::string& file) {
  if (file == "-") {
    fmt::print("{}", sample_intent());
    return ExitCode::kOk;
  }
  if (std::filesystem::exists(file)) {
    fmt::print(stderr,
               "{}: error: the file is there already\n  hint: name another: dlcp-switch "
               "init FILE, or `-` for standard output\n",
               file);
    return ExitCode::kFiles;
  }
  std::ofstream stream(file);
  stream << sample_intent();
  stream.close();
  if (!stream) {
    fmt::print(stderr, "{}: error: cannot be written\n", file);
    return ExitCode::kFiles;
  }
  fmt::print("wrote {}; edit it, then: dlcp-switch plan {}\n", file, file);
  return ExitCode::kOk;
}

}  // namespace

void add_init(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand("init", "Write a commented sample of an intent file");
  auto file = std::make_shared<std::string>("intent.yaml");
  verb->add_option("FILE", *file, "Where to; `-`: standard output")->capture_default_str();
  verb->callback([file, &exit_code] { exit_code = write_sample(*file); });
}

}  // namespace dlcp::fabric::cli
