// Schedules for networks that no regular algorithm suits: in order of time, each chunk is sent over
// free links to a rank that lacks it; of all possible transfers the one that ends first is chosen.
#pragma once

#include <optional>

#include "synth/plan/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// For buffers of about `bytes`, each rank's share cut into `parts` chunks. nullopt for AllToAll,
// for one rank, and for more than kGreedyMessagesMax messages.
inline constexpr std::size_t kGreedyMessagesMax = 1 << 14;
std::optional<Recipe> greedy(const Topology& topology, const Routes& routes, Collective collective,
                             double bytes, int parts);

}  // namespace dlcp::synth
