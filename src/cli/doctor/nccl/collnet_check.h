// Whether all-reduces of jobs started here would use direct exchange, and if not, why.
#pragma once

#include <cstdint>
#include <string>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

struct CollnetState {
  int nccl_version = 0;           // 0: not known
  bool offered = false;           // NCCL_COLLNET_ENABLE
  bool refused = false;           // DLCP_COLLNET=off
  bool by_plan = false;           // DLCP_PLAN
  std::string by_switch = {};     // DLCP_COLLNET_SWITCH; empty: none
  std::string switch_fault = {};  // the problem with it; empty: none known here
  std::string hubs = {};          // DLCP_COLLNET_HUBS
  std::string bad_hubs = {};      // why DLCP_COLLNET_HUBS is invalid
  std::uint32_t loss_budget_ppm = 0;
};

Finding judge_collnet(const CollnetState& state);
Finding check_collnet(int nccl_version);  // checks this environment

}  // namespace dlcp::cli
