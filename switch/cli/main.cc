// `dlcp-switch`: from a short description of a fabric to configuration of its switches. Registers
// the verbs and turns their outcome into the exit code.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "switch/cli/verbs.h"
#include "switch/model/intent_keys.h"

namespace {

// The verb that the first word is nearly; empty: it is one, or none is near.
std::string unknown_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return "";
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr))
    names.push_back(verb->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";
  return dlcp::fabric::nearest(argv[1], std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace

int main(int argc, char** argv) {
  using dlcp::fabric::cli::ExitCode;
  CLI::App app{
      "dlcp-switch: what switches have to do for DLCP, merged into what they do today.\n"
      "Begin with `dlcp-switch init`, look with `plan --explain` and `check`, then `render`."};
  app.name("dlcp-switch");
  app.set_version_flag("--version", std::string("dlcp-switch ") + DLCP_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit: 0 done; 1 errors in intent, site or plan (nothing is written); 2 usage;\n"
      "3 text that no grammar has checked, without --unverified; 4 diff or verify found\n"
      "something; 5 a file cannot be read or written.");
  ExitCode exit_code = ExitCode::kOk;
  dlcp::fabric::cli::add_init(app, exit_code);
  dlcp::fabric::cli::add_plan(app, exit_code);
  dlcp::fabric::cli::add_check(app, exit_code);
  dlcp::fabric::cli::add_render(app, exit_code);
  dlcp::fabric::cli::add_diff(app, exit_code);
  dlcp::fabric::cli::add_verify(app, exit_code);
  dlcp::fabric::cli::add_trace(app, exit_code);
  dlcp::fabric::cli::add_rollout(app, exit_code);
  dlcp::fabric::cli::add_telemetry(app, exit_code);
  dlcp::fabric::cli::add_tables(app, exit_code);
  if (const std::string like = unknown_verb(app, argc, argv); !like.empty()) {
    fmt::print(stderr, "error: no verb '{}'\n  hint: did you mean '{}'?\n", argv[1], like);
    return static_cast<int>(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(exit_code);
}
