// The groups of a network: boxes, leaves, pods; and which ranks are equivalent.
#pragma once

#include <vector>

#include "synth/topology.h"

namespace dlcp::synth {

struct Partition {
  int groups = 0;
  std::vector<int> of_node;  // by node: its group, or -1 for switches between groups
};

// From fine to coarse; each has more than one group, and fewer groups than ranks. First the groups
// that the input names, then the components that remain connected without the switches farther from
// ranks.
std::vector<Partition> levels_of(const Topology& topology);

// Ranks with the same number have equivalent links around them (colour refinement).
std::vector<int> classes_of(const Topology& topology);

// The ranks of each group of a partition, in order.
std::vector<std::vector<int>> members_of(const Topology& topology, const Partition& partition);

}  // namespace dlcp::synth
