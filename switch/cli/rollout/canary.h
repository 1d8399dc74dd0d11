// The order in which switches are changed: one of each kind first, edge before core, then the rest.
// A switch without DLCP's rows serves DLCP in its default class, so the rollout may be stopped
// after any step.
#pragma once

#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric::cli {

struct CanaryStep {
  std::string title;
  std::vector<std::string> switches;
};

std::vector<CanaryStep> canary_steps(const Intent& intent);

// Conditions for stopping and rolling back: a Markdown list, the same for every switch of a kind.
std::string abort_thresholds(const SwitchPlan& plan);

}  // namespace dlcp::fabric::cli
