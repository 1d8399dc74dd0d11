// What a pattern costs on a fabric, given which host has which rank: time for its bytes where links
// are full, time for its messages where they are empty, and how often leaves are left.
#pragma once

#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "order/patterns.h"

namespace dlcp::order {

struct Cost {
  double seconds = 0;     // for the bytes, by the fullest host or uplink of each round
  double latency_us = 0;  // for the first byte: round trips along the way
};

// `order`: hosts by rank. What the fabric does not know is no limit and takes no time.
Cost cost_of(const fabric::Fabric& fabric, std::span<const int> order, const Pattern& pattern);
// Every host to every other, 10^9 bytes in all from each: the order does not matter.
Cost all_to_all_cost(const fabric::Fabric& fabric, std::span<const int> hosts);

// No order of these hosts makes the pattern's bytes take less.
double bound_seconds(const fabric::Fabric& fabric, std::span<const int> hosts,
                     const Pattern& pattern);

// Neighbours in the ring that are on different leaves, the ends included.
int crossings(const fabric::Fabric& fabric, std::span<const int> order);

}  // namespace dlcp::order
