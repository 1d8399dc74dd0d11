// How many queue pairs links have, on cards (datapath/verbs/placement) and on the simulated card of
// `dlcp simulate`, which follows them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcp::datapath {

// Of one device, for all its links.
inline constexpr std::size_t kLinkQueuePairsMax = 2048;
// Of one class of a link; of a link, so that its introduction is small enough for any mix of
// classes; and of a link if there are many peers.
inline constexpr std::size_t kPathsPerClassMax = 16;
inline constexpr std::size_t kPathsPerLinkMax = 48;
inline constexpr std::size_t kPathsPerLinkMin = 2;
// Requests that one queue pair holds: a power of two.
inline constexpr std::uint32_t kSendsPerPath = 128;

}  // namespace dlcp::datapath
