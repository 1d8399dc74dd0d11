// `dlcp-switch rollout`: the order of change for a whole fabric, as files for Ansible.
#include <memory>

#include "switch/cli/fabric_files.h"
#include "switch/cli/load.h"
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
  return write_fabric_files(
      load(options.intent, {}, render_for_problems), options.intent.json, options.folder,
      [&](const Intent& intent) {
        return rollout_files(intent, canary_steps(intent), options.pace);
      },
      ": begin with ROLLOUT.md; nothing is pushed by dlcp-switch");
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
