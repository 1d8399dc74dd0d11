// Clusters of hosts from their distances: average linkage (Sokal and Michener 1958) by
// nearest-neighbour chains, in time quadratic in the number of hosts.
#pragma once

#include <vector>

#include "order/discover/threshold.h"

namespace dlcp::order {

// By host: its cluster, numbered 0, 1, ... by first appearance. Clusters are merged while the mean
// distance between their hosts is at most `threshold`. Unknown pairs count as far.
std::vector<int> cluster(const Distances& distances, double threshold);

}  // namespace dlcp::order
