// Orders that follow the tree of groups: the hosts of each group are contiguous.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "order/discover/threshold.h"

namespace dlcp::order {

enum class Siblings {
  kAsGiven,       // by the position of their first host in the given order
  kLargestFirst,  // so that leaves begin at multiples of their size
};

// `given` with the hosts of each group made contiguous. The host of rank 0 keeps its rank if that
// costs nothing (jobs use its address for rendezvous). If `distances` between hosts show that
// sibling groups are not equally far apart, near ones are placed next to each other.
std::vector<int> hierarchical(const fabric::Fabric& fabric, const std::vector<int>& given,
                              Siblings siblings, const Distances* distances);

}  // namespace dlcp::order
