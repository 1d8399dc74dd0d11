// `dlcp-switch rollout`: the order of change for a whole fabric, as files for Ansible.
#include "switch/cli/fabric_files.h"
#include "switch/cli/verbs.h"

namespace dlcp::fabric::cli {

ExitCode run_rollout(const RolloutOptions& options) {
  // A fabric that cannot be rendered has no order of change.
  return write_fabric_files(
      load(options.intent, {}, render_for_problems), options.intent.json, options.folder,
      [&](const Intent& intent) {
        return rollout_files(intent, canary_steps(intent), options.pace);
      },
      ": begin with ROLLOUT.md; nothing is pushed by dlcp-switch");
}

}  // namespace dlcp::fabric::cli
