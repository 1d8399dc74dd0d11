// The order in which a fabric is changed, as an Ansible inventory and playbooks. dlcp-switch never
// changes a switch itself; operators run these files with their own tools.
#pragma once

#include <string>
#include <vector>

#include "switch/cli/rollout/canary.h"
#include "switch/model/text/text_file.h"

namespace dlcp::fabric::cli {

struct RolloutPace {
  unsigned ports = 1;   // of one switch, changed at once
  unsigned leaves = 2;  // switches of the last leaf step that are changed at once
  unsigned canary_minutes = 30, batch_minutes = 10;  // under load, before the next step
};

// inventory.yml, playbook.yml, rollback.yml, change.yml and back.yml (their tasks), ROLLOUT.md.
// `lossless`: for each switch of the intent, a bit for each priority that PFC protects on it.
std::vector<TextFile> rollout_files(const Intent& intent, const std::vector<CanaryStep>& steps,
                                    const std::vector<unsigned>& lossless, const RolloutPace& pace);

}  // namespace dlcp::fabric::cli
