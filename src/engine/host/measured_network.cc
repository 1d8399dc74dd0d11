#include "engine/host/measured_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "fabric/order_file.h"

namespace dlcp::engine {
namespace {

constexpr double kMbpsPerGbps = 1000;

// The latency within the widest group that was measured.
double latency_us(const fabric::Fabric& fabric, int host) {
  double round_trip_us = 0;
  for (int g = fabric.group_of[static_cast<std::size_t>(host)]; g >= 0;
       g = fabric.groups[static_cast<std::size_t>(g)].parent) {
    const double own = fabric.groups[static_cast<std::size_t>(g)].round_trip_us;
    round_trip_us = own > 0 ? own : round_trip_us;
  }
  return round_trip_us / 2;
}

}  // namespace

Result<std::vector<MeasuredDevice>> measured_devices(const std::string& path,
                                                     const std::string& text,
                                                     std::span<const datapath::Interface> devices) {
  const auto file = fabric::read_order(text);
  if (!file) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_ORDER = '{}': {}", path, file.error().what), file.error().hint};
  }
  const fabric::Fabric& fabric = file.value().fabric;
  std::vector<MeasuredDevice> measured(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string address = datapath::to_string(devices[i].ip);
    const auto host = std::ranges::find_if(fabric.hosts, [&](const fabric::Host& one) {
      return std::ranges::find(one.addresses, address) != one.addresses.end();
    });
    if (host == fabric.hosts.end()) continue;
    measured[i].latency_us = latency_us(fabric, static_cast<int>(host - fabric.hosts.begin()));
    // The load test used the first address; the speed of other addresses was not measured.
    if (host->addresses.front() == address) {
      measured[i].speed_mbps = static_cast<int>(
          std::min(std::round(host->gb_per_s * kMbpsPerGbps), static_cast<double>(INT_MAX)));
    }
  }
  return measured;
}

}  // namespace dlcp::engine
