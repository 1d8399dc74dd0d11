// Spanning trees and paths that share the network's links evenly: what ForestColl's optimum asks
// for, found by routing chunk after chunk along the cheapest tree where a link's price grows with
// its load, and routing each again until nothing improves. For topologies that no regular algorithm
// fills: unequal hosts and leaves, GPUs that must relay.
//
// Many ranks are planned on the quotient graph: equal ranks of a group take turns to represent it.
#pragma once

#include <optional>

#include "synth/bound.h"
#include "synth/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// Nothing where ranks cannot reach each other as the trees need it (never for AllToAll). `parts`:
// pieces of a shard (AllReduce: of the vector) that are routed one by one.
std::optional<Recipe> pack(const Topology& topology, const Routes& routes, Collective collective,
                           const Bound& bound, int parts);

}  // namespace dlcp::synth
