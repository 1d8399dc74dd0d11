// Measures what a network carries when all hosts send at once, which an idle pair of hosts does not
// show: the transfers of each phase of the load, and the rates of hosts and uplinks that follow
// from the received rates.
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
  // Of the groups whose uplinks it loads; one more than the deepest: only hosts are loaded.
  int depth = 0;
  std::vector<Transfer> transfers;  // each host sends to at most one and receives from at most one
};

struct LoadResult {
  LoadPhase phase;
  std::vector<double> gb_per_s;  // received, by transfer; NaN: not known
};

// First hosts within their leaves, then between leaves, then between higher groups. `silent` hosts
// and hosts without a partner take no part.
std::vector<LoadPhase> plan_load(const fabric::Fabric& fabric);

// Writes rates of hosts, capacities of uplinks and the slow flags into the fabric.
void apply_load(fabric::Fabric& fabric, const std::vector<LoadResult>& results);

}  // namespace dlcp::order
