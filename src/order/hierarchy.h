// Orders that follow the tree of groups: whatever is in a group is contiguous.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "order/threshold.h"

namespace dlcp::order {

enum class Siblings {
  kAsGiven,       // by the first of their hosts in the given order
  kLargestFirst,  // so that leaves begin at multiples of their size
};

// `given` with each group's hosts drawn together; the host of rank 0 stays where that costs nothing
// (it is the address that jobs meet at). Where `distances` between hosts show that groups beside
// each other are not equally far apart, neighbours are put side by side.
std::vector<int> hierarchical(const fabric::Fabric& fabric, const std::vector<int>& given,
                              Siblings siblings, const Distances* distances);

}  // namespace dlcp::order
