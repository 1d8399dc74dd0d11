// Which queue and traffic class each part of DLCP gets on one switch: collisions with the site's
// map, queues that are free, and how classes share queues where too few are. No depths and no rates
// here; see thresholds.h and shares.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

struct Layout {
  std::vector<QueuePlan> queues;  // indices, names, levels with shares; no depths, no weights
  std::array<DscpRow, kDscpCount> dscp;
  std::vector<Merge> merges;
};

Checked<Layout> lay_out(const Intent& intent, const SwitchIntent& device,
                        const Capabilities& capabilities);

// Joins the two levels of each queue that are dropped first; a queue of two levels keeps one, which
// then is not dropped early. False: nothing is left to join.
bool join_lowest_levels(std::vector<QueuePlan>& queues, std::size_t deepest_queue);

// Writes the precedence of levels into the rows of their DSCPs.
void number_levels(std::vector<QueuePlan>& queues, std::array<DscpRow, kDscpCount>& dscp);

}  // namespace dlcp::fabric
