// The cheapest trees and paths over nodes 0..n-1 of which each pair has a price, infinite for none.
#pragma once

#include <functional>
#include <vector>

namespace dlcp::synth {

using Price = std::function<double(int from, int to)>;

// The parent of each node, -1 for the root; empty if not all can be reached.
std::vector<int> cheapest_arborescence(int nodes, int root, const Price& price);
// Of symmetric prices; the root is where the tree is least deep.
std::vector<int> cheapest_spanning_tree(int nodes, const Price& price);
// The cheapest paths from a node to all others: the node before each, -1 for `from`; empty if not
// all can be reached.
std::vector<int> cheapest_paths(int nodes, int from, const Price& price);
// Of those the one to `to`, both ends included.
std::vector<int> path_to(int to, const std::vector<int>& before);

}  // namespace dlcp::synth
