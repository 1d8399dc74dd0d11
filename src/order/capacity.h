// What a network carries when all hosts send at once, which no idle pair of hosts shows: who sends
// to whom in each phase of the load, and what the received rates say of hosts and uplinks.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace dlcp::order {

struct Transfer {
  int from = 0;
  int to = 0;
};

struct LoadPhase {
  int depth = 0;  // of the groups whose uplinks it loads; one more than the deepest: hosts alone
  std::vector<Transfer> transfers;  // each host sends to at most one and receives from at most one
};

struct LoadResult {
  LoadPhase phase;
  std::vector<double> gb_per_s;  // received, by transfer; NaN: not known
};

// First hosts within their leaves, then leaves among each other, then what is above. `silent` hosts
// and such without a partner take no part.
std::vector<LoadPhase> plan_load(const fabric::Fabric& fabric);

// Writes rates of hosts, capacities of uplinks and who is slow into the fabric.
void apply_load(fabric::Fabric& fabric, const std::vector<LoadResult>& results);

}  // namespace dlcp::order
