// The regular algorithms that a topology allows: rings, exchanges in one to three levels that
// follow its boxes, leaves and pods, halving and doubling, Bruck's, PAT, trees.
#pragma once

#include <optional>
#include <vector>

#include "synth/plan/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// The ranks in an order in which each group is contiguous; all candidates use it.
std::vector<int> order_by_levels(const Topology& topology);

// Recipes whose senders all reach their receivers over switches only; may be empty.
std::vector<Recipe> regular_candidates(const Topology& topology, const Routes& routes,
                                       Collective collective);

// NCCL's algorithms over the ranks in `order`: its ring; its tree, for AllReduce.
Recipe nccl_ring(std::vector<int> order);
Recipe nccl_tree(const std::vector<int>& order);

// AllReduce by direct exchange in which ranks with faster links sum more of the vector: as fast as
// the bound in a network that only the ranks' own links limit. nullopt for fewer than three ranks,
// or if ranks cannot reach each other directly.
std::optional<Recipe> weighted_direct(const Topology& topology, const Routes& routes);

bool fits(const Schedule& schedule, const Routes& routes);

}  // namespace dlcp::synth
