// Assigns a queue and a traffic class to each part of DLCP on one switch: collisions with the
// site's map, free queues, and how classes share queues if there are too few. Depths and rates are
// in thresholds.h and shares.h.
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

// Joins the two levels of each queue that are dropped first. A queue of two levels keeps one, which
// is then not dropped early. Returns false if no levels can be joined.
bool join_lowest_levels(std::vector<QueuePlan>& queues, std::size_t deepest_queue);

// Writes the drop precedence of levels into the rows of their DSCPs.
void number_levels(std::vector<QueuePlan>& queues, std::array<DscpRow, kDscpCount>& dscp);

}  // namespace dlcp::fabric
