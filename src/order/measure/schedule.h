// Schedules the pairs to measure: bursts that share a host delay each other, so no host probes more
// than a few others at the same time. Answering costs less.
#pragma once

#include <vector>

#include "order/measure/measurements.h"

namespace dlcp::order {

// Slots in sequence; the pairs of a slot run at the same time. Contains each pair of `wanted` once.
std::vector<std::vector<Pair>> schedule(std::vector<Pair> wanted, int hosts);

}  // namespace dlcp::order
