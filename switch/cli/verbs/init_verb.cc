// `dlcp-switch init`: writes a commented sample intent. Never overwrites a file.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "switch/cli/sample.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {
namespace {

// Fails if the file exists.
ExitCode write_new(const std::string& file, std::string_view text) {
  if (std::filesystem::exists(file)) {
    fmt::print(stderr,
               "{}: error: the file exists already\n  hint: name another file: dlcp-switch init "
               "FILE, or `-` for standard output\n",
               file);
    return ExitCode::kFiles;
  }
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) {
    fmt::print(stderr, "{}: error: cannot write the file\n", file);
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

ExitCode run_init(const InitOptions& options) {
  if (options.classes.empty()) return write_sample(options.file);
  const ExitCode outcome = write_new(options.classes, local_classes());
  if (outcome != ExitCode::kOk) return outcome;
  fmt::print(
      "wrote {}; name this file in dlcp.classes of the intent and in DLCP_CLASSES on every host\n",
      options.classes);
  // A user who has an intent already needs only the classes.
  return std::filesystem::exists(options.file) ? ExitCode::kOk : write_sample(options.file);
}

}  // namespace dlcp::fabric::cli
