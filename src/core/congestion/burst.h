// The number of packets of an association that leave together on one path. Long bursts cost little
// (one system call, one pass through the kernel); short bursts keep the queues in the network
// short. The send rate and the window decide, and the result is rounded to the datapath's units.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

inline constexpr Duration kBurstSpan = std::chrono::microseconds(100);  // of sending time, at most

// A message of at most this many bytes leaves as one burst if the window has room for it and the
// pace permits. Two bursts would let the receiver begin earlier, but the second one costs both ends
// more than that gains (measured: 3 us to send, 1 us to receive; 32 KiB take 4 us to receive).
inline constexpr std::size_t kUndividedBytes = std::size_t{32} << 10;

struct Burst {
  wire::PathIndex path = 0;
  std::size_t left = 0;     // packets that may still follow on the same path
  std::size_t bytes = 0;    // payload of each packet; a shorter packet is the last one
  Duration packet_time{0};  // time per packet at the present rate
  Duration slack{0};        // sending time on which a late caller may catch up
};

// Number of packets of `packet_bytes` in one unit of the datapath, at least 1.
std::size_t unit_packets(const Config& config, std::size_t packet_bytes);

// Length of the next burst, at least 1: the user's setting, or at most kBurstSpan of sending time
// (`packet_time` per packet, at the rate of the endpoint) and half of the window, in whole units if
// it is longer than one.
std::size_t burst_packets(const Config& config, std::size_t packet_bytes, Duration packet_time,
                          double window);

}  // namespace dlcp::core
