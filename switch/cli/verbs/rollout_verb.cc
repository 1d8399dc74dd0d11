// `dlcp-switch rollout`: writes the order of change of a whole fabric as files for Ansible.
#include "switch/cli/output_folder/fabric_files.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {

ExitCode run_rollout(const RolloutOptions& options) {
  std::vector<unsigned> lossless;
  // The files are written only if every switch can be rendered.
  Loaded loaded = load(
      options.intent, [&](const Intent& intent) { lossless.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& device, const SwitchPlan& plan,
          std::vector<Problem>& problems) {
        render_for_problems(index, device, plan, problems);
        if (plan.site) lossless[index] = plan.site->pfc_priorities;
      });
  return write_fabric_files(
      std::move(loaded), options.intent, options.folder,
      [&](const Intent& intent) {
        return rollout_files(intent, canary_steps(intent), lossless, options.pace);
      },
      ": begin with ROLLOUT.md; dlcp-switch runs nothing itself");
}

}  // namespace dlcp::fabric::cli
