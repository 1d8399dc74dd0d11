// How many packets of a connection leave together, on one path. Long bursts are cheap (one system
// call, one walk through the kernel), short ones keep the queues of the network short: the pace and
// the window decide, and the datapath's unit rounds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

inline constexpr Duration kBurstSpan = std::chrono::microseconds(100);  // of the pace, at most

// A message of no more goes as one burst into an idle network: it is not worth two paths.
inline constexpr std::size_t kSmallMessagePackets = 4;

struct Burst {
  wire::PathIndex path = 0;
  std::size_t left = 0;     // packets that may still follow on the same path
  Duration packet_time{0};  // that the pace gives each
};

// Packets of `packet_bytes` that one unit of the datapath carries, at least 1.
std::size_t unit_packets(const Config& config, std::size_t packet_bytes);

// Length of the next burst, at least 1: what the user fixed, or else at most kBurstSpan of the pace
// (`packet_time`: a packet of the whole endpoint)
// and half of the window, in whole units where it is longer than one.
std::size_t burst_packets(const Config& config, std::size_t packet_bytes, Duration packet_time,
                          double window);

}  // namespace dlcp::core
