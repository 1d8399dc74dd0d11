// `dlcp-switch rollout`: writes the order of change of a whole fabric as files for Ansible.
#include "switch/cli/output_folder/fabric_files.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {

ExitCode run_rollout(const RolloutOptions& options) {
  // The files are written only if every switch can be rendered.
  return write_fabric_files(
      load(options.intent, {}, render_for_problems), options.intent, options.folder,
      [&](const Intent& intent) {
        return rollout_files(intent, canary_steps(intent), options.pace);
      },
      ": begin with ROLLOUT.md; dlcp-switch runs nothing itself");
}

}  // namespace dlcp::fabric::cli
