#include "core/congestion/burst.h"

#include <algorithm>

namespace dlcp::core {
namespace {

// Large enough that system calls, at both ends, handle several full units.
constexpr std::size_t kBurstPacketsMax = 96;
constexpr std::size_t kBurstBytesMax = std::size_t{256} << 10;

}  // namespace

std::size_t unit_packets(const Config& config, std::size_t packet_bytes) {
  return std::max<std::size_t>(config.unit_bytes / packet_bytes, 1);
}

std::size_t burst_packets(const Config& config, std::size_t packet_bytes, Duration packet_time,
                          double window) {
  if (config.burst_packets_max != 0) return config.burst_packets_max;
  const auto by_pace = static_cast<std::size_t>(kBurstSpan / std::max(packet_time, Duration(1)));
  const auto by_window = static_cast<std::size_t>(window / 2);
  const std::size_t by_bytes = kBurstBytesMax / packet_bytes;
  const std::size_t packets = std::min({by_pace, by_window, by_bytes, kBurstPacketsMax});
  const std::size_t unit = unit_packets(config, packet_bytes);
  return std::max<std::size_t>(packets > unit ? packets / unit * unit : packets, 1);
}

}  // namespace dlcp::core
