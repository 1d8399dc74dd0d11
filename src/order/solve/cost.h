// The cost of a pattern on a fabric with a given order of hosts: the time for its bytes on loaded
// links, the time for its messages on idle links, and the number of ring neighbours on different
// leaves.
#pragma once

#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "order/solve/patterns.h"

namespace dlcp::order {

struct Cost {
  double seconds = 0;     // for the bytes, limited by the most loaded host or uplink of each round
  double latency_us = 0;  // for the first byte: RTTs along the path
};

// `order`: hosts by rank. Unknown rates do not limit, and unknown RTTs count as 0.
Cost cost_of(const fabric::Fabric& fabric, std::span<const int> order, const Pattern& pattern);
// Every host to every other, 10^9 bytes in all from each: independent of the order.
Cost all_to_all_cost(const fabric::Fabric& fabric, std::span<const int> hosts);

// A lower bound over all orders of these hosts of the time for the pattern's bytes.
double bound_seconds(const fabric::Fabric& fabric, std::span<const int> hosts,
                     const Pattern& pattern);

// Ring neighbours on different leaves, including the last host and the first.
int crossings(const fabric::Fabric& fabric, std::span<const int> order);

}  // namespace dlcp::order
