#include "engine/host/measured_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>

#include "fabric/order_file.h"

namespace dlcp::engine {
namespace {

constexpr double kMbpsPerGbps = 1000;

std::uint32_t latency_ns(const fabric::Fabric& fabric) {
  double round_trip_us = 0;
  for (const fabric::Group& group : fabric.groups)
    round_trip_us = std::max(round_trip_us, group.round_trip_us);
  return static_cast<std::uint32_t>(
      std::min(std::round(round_trip_us * 1000 / 2), static_cast<double>(UINT32_MAX)));
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
  std::vector<MeasuredDevice> measured(devices.size(), {latency_ns(fabric), 0});
  bool is_listed = false;
  std::string addresses;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string address = datapath::to_string(devices[i].ip);
    const auto host = std::ranges::find_if(fabric.hosts, [&](const fabric::Host& one) {
      return std::ranges::find(one.addresses, address) != one.addresses.end();
    });
    addresses += (i == 0 ? "" : ", ") + address;
    if (host == fabric.hosts.end()) continue;
    is_listed = true;
    // The load test used the first address; the speed of other addresses was not measured.
    if (host->addresses.front() == address) {
      measured[i].speed_mbps = static_cast<int>(
          std::min(std::round(host->gb_per_s * kMbpsPerGbps), static_cast<double>(INT_MAX)));
    }
  }
  if (!is_listed) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("DLCP_ORDER = '{}': contains no address of this host ({})", path, addresses),
        "measure again with all hosts of the job, or unset the setting on all ranks"};
  }
  return measured;
}

}  // namespace dlcp::engine
