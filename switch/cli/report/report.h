// REPORT.md of one switch, for its owner to read before any change is applied, and FABRIC.md with
// the order in which switches are changed.
#pragma once

#include <string>
#include <vector>

#include "switch/cli/rollout/canary.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {

std::string report_text(const SwitchPlan& plan, const Rendering& rendering,
                        const std::vector<VerifyCommand>& commands,
                        const std::vector<Problem>& found, const std::string& step);

std::string fabric_text(const Intent& intent, const std::vector<CanaryStep>& steps,
                        const std::vector<Problem>& found);

}  // namespace dlcp::fabric::cli
