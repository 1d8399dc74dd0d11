// Spanning trees and paths that load the network's links evenly, as ForestColl's optimum requires.
// They are found by routing one chunk after the other along the cheapest tree, where a link's price
// grows with its load, and by routing each chunk again until nothing improves. For topologies that
// no regular algorithm uses fully: unequal hosts and leaves, GPUs that must relay.
//
// With many ranks it plans on the quotient graph: equivalent ranks of a group represent it in turn.
#pragma once

#include <optional>

#include "synth/flow/bound.h"
#include "synth/plan/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// nullopt if ranks cannot reach each other as the trees require (never for AllToAll). `parts`:
// pieces of a shard (AllReduce: of the vector) that are routed separately.
std::optional<Recipe> pack(const Topology& topology, const Routes& routes, Collective collective,
                           const Bound& bound, int parts);

}  // namespace dlcp::synth
