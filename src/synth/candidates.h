// The regular algorithms that a topology allows: rings, exchanges of one to three levels that
// follow its boxes, leaves and pods, halving and doubling, Bruck's, PAT, trees.
#pragma once

#include <optional>
#include <vector>

#include "synth/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// Ranks with what belongs together side by side: the order along which all of them are laid.
std::vector<int> order_by_levels(const Topology& topology);

// Recipes whose every sender reaches its receivers over switches alone; may be empty.
std::vector<Recipe> regular_candidates(const Topology& topology, const Routes& routes,
                                       Collective collective);

// What NCCL would do, over the ranks in `order`: its ring; its tree, for AllReduce.
Recipe nccl_ring(std::vector<int> order);
Recipe nccl_tree(const std::vector<int>& order);

// AllReduce by direct exchange in which ranks with faster links sum more of the vector: in a
// network that only the ranks' own links limit, as fast as the bound. Nothing for fewer than three
// ranks or where ranks cannot reach each other directly.
std::optional<Recipe> weighted_direct(const Topology& topology, const Routes& routes);

bool fits(const Schedule& schedule, const Routes& routes);

}  // namespace dlcp::synth
