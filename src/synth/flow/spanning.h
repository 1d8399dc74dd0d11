// The cheapest trees and paths over nodes 0..n-1 with a price for each pair; infinite: not
// connected.
#pragma once

#include <functional>
#include <vector>

namespace dlcp::synth {

using Price = std::function<double(int from, int to)>;

// The parent of each node, -1 for the root; empty if some node cannot be reached.
std::vector<int> cheapest_arborescence(int nodes, int root, const Price& price);
// For symmetric prices; the root is the node that gives the least depth.
std::vector<int> cheapest_spanning_tree(int nodes, const Price& price);
// The cheapest paths from a node to all others: the predecessor of each, -1 for `from`; empty if
// some node cannot be reached.
std::vector<int> cheapest_paths(int nodes, int from, const Price& price);
// The path to `to` from these predecessors, both ends included.
std::vector<int> path_to(int to, const std::vector<int>& before);

}  // namespace dlcp::synth
