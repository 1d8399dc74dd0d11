// AllGather algorithms that are no exchange of digits; reversed they are ReduceScatter, and both
// together AllReduce.
#pragma once

#include <span>
#include <vector>

#include "synth/schedule.h"

namespace dlcp::synth {

// Bruck's: ceil(log2 n) steps for any n, each to a neighbour twice as far as the step before.
Schedule gather_by_bruck(std::span<const int> order);
// PAT (NCCL's parallel aggregated trees): the farthest first, so that most bytes go to neighbours.
Schedule gather_by_pat(std::span<const int> order);

// From everyone's point of view: who sends me the chunk; -1 at the root. Its messages begin at step
// `release`, so that trees that share links take turns.
struct Tree {
  int units = 1;
  int release = 0;
  std::vector<int> parent;
};
enum class Direction { kDown, kUp, kUpAndDown };
// Copies from each tree's root to everyone (AllGather), sums of everyone's at the root
// (ReduceScatter), or both (AllReduce), there down `reducing` if that is not empty. Chunks lie in
// the buffer in the order of trees: AllGather and ReduceScatter need them by their roots.
Schedule by_trees(Direction direction, const std::vector<Tree>& trees,
                  const std::vector<Tree>& reducing = {});

// The two binary trees over which NCCL's tree algorithm sums, half of the vector each: inner nodes
// of one are leaves of the other.
std::vector<Tree> double_binary_tree(std::span<const int> order);
// One tree in which each node's children are 1, 2, 4, ... places away.
std::vector<Tree> binomial_tree(std::span<const int> order);

}  // namespace dlcp::synth
