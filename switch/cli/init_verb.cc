// `dlcp-switch init`: a commented sample to begin with. Never overwrites.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "switch/cli/sample.h"
#include "switch/cli/verbs.h"

namespace dlcp::fabric::cli {
namespace {

// Never over something that is there.
ExitCode write_new(const std::string& file, std::string_view text) {
  if (std::filesystem::exists(file)) {
    fmt::print(stderr,
               "{}: error: the file is there already\n  hint: name another: dlcp-switch "
               "init FILE, or `-` for standard output\n",
               file);
    return ExitCode::kFiles;
  }
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) {
    fmt::print(stderr, "{}: error: cannot be written\n", file);
    return ExitCode::kFiles;
  }
  return ExitCode::kOk;
}

ExitCode write_sample(const std::string& file) {
  if (file == "-") {
    fmt::print("{}", sample_intent());
    return ExitCode::kOk;
  }
  const ExitCode outcome = write_new(file, sample_intent());
  if (outcome == ExitCode::kOk)
    fmt::print("wrote {}; edit it, then: dlcp-switch plan {}\n", file, file);
  return outcome;
}

}  // namespace

void add_init(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand("init", "Write a commented sample of an intent file");
  auto file = std::make_shared<std::string>("intent.yaml");
  verb->add_option("FILE", *file, "Where to; `-`: standard output")->capture_default_str();
  auto classes = std::make_shared<std::string>();
  verb->add_option("--classes", *classes,
                   "Also write a class file with DSCPs of RFC 2474's pools for local use (xxxx11, "
                   "xxxx01), for dlcp.classes here and DLCP_CLASSES on the hosts");
  verb->callback([file, classes, &exit_code] {
    exit_code = classes->empty() ? ExitCode::kOk : write_new(*classes, local_classes());
    if (exit_code == ExitCode::kOk) exit_code = write_sample(*file);
  });
}

}  // namespace dlcp::fabric::cli
