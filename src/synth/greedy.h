// Schedules for networks that no regular algorithm fits: in the order of time, each chunk goes over
// whatever is free to a rank that lacks it, the transfer that ends first being taken first.
#pragma once

#include <optional>

#include "synth/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

// For buffers of about `bytes`, each rank's share cut into `parts` chunks. Nothing for AllToAll,
// for one rank, and where there would be more than kGreedyMessagesMax messages.
inline constexpr std::size_t kGreedyMessagesMax = 1 << 14;
std::optional<Recipe> greedy(const Topology& topology, const Routes& routes, Collective collective,
                             double bytes, int parts);

}  // namespace dlcp::synth
