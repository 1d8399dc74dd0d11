// AllGather algorithms that are not exchanges of digits. Reversed they are ReduceScatter; both
// together are AllReduce.
#pragma once

#include <span>
#include <vector>

#include "synth/plan/schedule.h"

namespace dlcp::synth {

// Bruck's: ceil(log2 n) steps for any n, each to a neighbour at twice the previous distance.
Schedule gather_by_bruck(std::span<const int> order);
// PAT (NCCL's parallel aggregated trees): the largest distance first, so that most bytes go to near
// ranks.
Schedule gather_by_pat(std::span<const int> order);

// A tree as the parent of each rank, from which it receives the chunk; -1 at the root. Its messages
// begin at step `release`, so that trees with common links take turns.
struct Tree {
  int units = 1;
  int release = 0;
  std::vector<int> parent;

  bool operator==(const Tree&) const = default;
};
enum class Direction { kDown, kUp, kUpAndDown };
// Copies from each tree's root to all ranks (AllGather), sums at the root (ReduceScatter), or both
// (AllReduce), where the sums use `reducing` if it is not empty. Chunks are in the buffer in the
// order of trees; AllGather and ReduceScatter need them in the order of their roots.
Schedule by_trees(Direction direction, const std::vector<Tree>& trees,
                  const std::vector<Tree>& reducing = {});

// The two binary trees of NCCL's tree algorithm, each for half of the vector: inner nodes of one
// are leaves of the other.
std::vector<Tree> double_binary_tree(std::span<const int> order);
// One tree in which each node's children are at distances 1, 2, 4, ...
std::vector<Tree> binomial_tree(std::span<const int> order);

}  // namespace dlcp::synth
