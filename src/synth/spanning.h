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
// From `from` to `to`, both included; empty if there is none.
std::vector<int> cheapest_path(int nodes, int from, int to, const Price& price);

}  // namespace dlcp::synth
