// `dlcp-switch rollout`: the order of change for a whole fabric, as files for Ansible.
#include <fmt/core.h>

#include <memory>

#include "switch/cli/folder.h"
#include "switch/cli/load.h"
#include "switch/cli/output.h"
#include "switch/cli/rollout.h"

namespace dlcp::fabric::cli {
namespace {

struct RolloutOptions {
  IntentOptions intent;
  std::string folder = "switches";
  RolloutPace pace;
};

ExitCode run_rollout(const RolloutOptions& options) {
  // A fabric that cannot be rendered has no order of change.
  Loaded loaded = load(options.intent, {}, render_for_problems);
  ExitCode outcome = outcome_of(loaded);
  std::vector<RolloutFile> files;
  if (outcome == ExitCode::kOk) {
    files = rollout_files(*loaded.intent, canary_steps(*loaded.intent), options.pace);
    const Folder folder(options.folder);
    std::optional<Problem> problem;
    for (const RolloutFile& file : files) {
      problem = folder.write(file.name, file.text, false);
      if (problem) break;
    }
    if (!problem) problem = folder.commit().problem;
    if (problem) {
      loaded.problems.push_back(*problem);
      outcome = ExitCode::kFiles;
    }
  }
  if (options.intent.json) {
    std::vector<std::string> names;
    for (const RolloutFile& file : files)
      names.push_back(file.name);
    fmt::print("{}", files_json(names, loaded.problems));
    return outcome;
  }
  print_problems(loaded.problems, false);
  if (outcome == ExitCode::kOk) {
    fmt::print("{} files in {}: begin with ROLLOUT.md; nothing is pushed by dlcp-switch\n",
               files.size(), options.folder);
  } else {
    fmt::print(stderr, "nothing was written\n");
  }
  return outcome;
}

}  // namespace

void add_rollout(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "rollout", "Write the order of change as an Ansible inventory and playbooks; pushes nothing");
  auto options = std::make_shared<RolloutOptions>();
  add_intent_options(*verb, options->intent);
  verb->add_option("-o,--output", options->folder, "The folder that `render` writes")
      ->capture_default_str();
  verb->add_option("--ports", options->pace.ports, "Ports of one switch that change at once")
      ->check(CLI::Range(1U, 512U))
      ->capture_default_str();
  verb->add_option("--serial", options->pace.leaves,
                   "Leaves that change at once, after the canaries")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb->add_option("--canary-minutes", options->pace.canary_minutes, "Under load, after a canary")
      ->check(CLI::Range(0U, 10000U))
      ->capture_default_str();
  verb->add_option("--batch-minutes", options->pace.batch_minutes, "Under load, after a batch")
      ->check(CLI::Range(0U, 10000U))
      ->capture_default_str();
  verb->callback([options, &exit_code] { exit_code = run_rollout(*options); });
}

}  // namespace dlcp::fabric::cli
