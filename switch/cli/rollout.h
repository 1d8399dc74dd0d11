// The order in which a fabric is changed, as an Ansible inventory and playbooks. dlcp-switch pushes
// nothing: these are run by the operator, with their tools, when they choose.
#pragma once

#include <string>
#include <vector>

#include "switch/cli/canary.h"
#include "switch/model/text_file.h"

namespace dlcp::fabric::cli {

struct RolloutPace {
  unsigned ports = 1;   // of one switch that change at once
  unsigned leaves = 2;  // switches of the last leaf step that change at once
  unsigned canary_minutes = 30, batch_minutes = 10;  // under load, before the next ones
};

// inventory.yml, playbook.yml, rollback.yml, change.yml and back.yml (their tasks), ROLLOUT.md.
std::vector<TextFile> rollout_files(const Intent& intent, const std::vector<CanaryStep>& steps,
                                    const RolloutPace& pace);

}  // namespace dlcp::fabric::cli
