#include "engine/opening/ways.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "datapath/address/address_alternatives.h"
#include "datapath/address/device_address.h"
#include "engine/devices/carrier.h"

namespace dlcp::engine {
namespace {

using datapath::DeviceAddress;
using datapath::IpAddress;
using datapath::LocatorKind;

// Smaller values are tried earlier.
enum class Rank : std::uint8_t {
  kOwnRoute,     // by NCCL's device, which has a route of its own
  kKernelRoute,  // as the kernel sends TCP
  kOwnAddress,   // from the address of NCCL's device, but by another card
};

std::string host_text(const wire::EndpointAddress& address) {
  const auto decoded = datapath::decode_device_address(address);
  return decoded ? to_string(decoded->ip) : std::string();
}

// If there are several addresses, each has one port, so that the core always gets the same address
// for a device; the peer's answer contains its other ports.
std::vector<DeviceAddress> addresses_of(const wire::EndpointAddress& peer) {
  std::vector<DeviceAddress> addresses;
  const auto first = datapath::decode_device_address(peer);
  if (!first || !first->has(LocatorKind::kUdpPort)) return addresses;
  const auto others = datapath::alternatives_in(peer);
  DeviceAddress alone;
  alone.ip = first->ip;
  alone.add(LocatorKind::kUdpPort, first->of(LocatorKind::kUdpPort).front().value);
  addresses.push_back(others.empty() ? first->only(LocatorKind::kUdpPort) : alone);
  std::ranges::copy(others, std::back_inserter(addresses));
  return addresses;
}

bool has_own_route(const Device& device, const IpAddress& to, const RouteLookup& look_up) {
  if (to.is_link_local() || device.is_routed_to) return true;  // by scope, or by any uplink
  datapath::RouteQuestion question{to, device.ip, 0};
  const auto chosen = look_up(question);
  if (chosen && chosen->is_local) return true;
  question.interface = static_cast<int>(::if_nametoindex(device.name.c_str()));
  return look_up(question).has_value();
}

std::optional<std::size_t> kernels_device(std::span<const Device> devices, const IpAddress& to,
                                          const RouteLookup& look_up) {
  const auto route = look_up({to, std::nullopt, 0});
  if (!route || !route->source) return std::nullopt;
  const auto found = std::ranges::find_if(devices, [&](const Device& device) {
    return device.ip == *route->source && device.is_udp_alone();
  });
  if (found == devices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - devices.begin());
}

}  // namespace

std::vector<Way> find_ways(std::span<const Device> devices, std::size_t own,
                           const wire::EndpointAddress& peer, const RouteLookup& look_up) {
  const std::vector<DeviceAddress> addresses = addresses_of(peer);
  if (addresses.empty() || own >= devices.size() || !devices[own].is_udp_alone() ||
      (devices.size() == 1 && addresses.size() == 1))
    return {};
  std::vector<Way> ways;
  for (std::size_t number = 0; number < addresses.size(); ++number) {
    const IpAddress& to = addresses[number].ip;
    std::vector<std::pair<Rank, std::size_t>> fitting;
    if (devices[own].ip.family == to.family) {
      const bool is_routed = has_own_route(devices[own], to, look_up);
      fitting.emplace_back(is_routed ? Rank::kOwnRoute : Rank::kOwnAddress, own);
    }
    const auto other = kernels_device(devices, to, look_up);
    if (other && *other != own) fitting.emplace_back(Rank::kKernelRoute, *other);
    std::ranges::sort(fitting);
    for (const auto& [rank, device] : fitting)
      ways.push_back({device, number, encode(addresses[number])});
  }
  return ways;
}

WayBook::Ways WayBook::ways(std::span<const Device> devices, std::size_t own,
                            const wire::EndpointAddress& peer) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = known_.try_emplace({own, host_text(peer)});
  Known& known = at->second;
  if (is_new) known.ways = find_ways(devices, own, peer, look_up_);
  Ways ways;
  if (known.ways.empty()) return ways;
  const std::vector<DeviceAddress> addresses = addresses_of(peer);
  for (const Way& way : known.ways)
    if (way.address < addresses.size())
      ways.all.push_back({way.device, way.address, encode(addresses[way.address])});
  ways.is_confirmed = known.answered.has_value();
  return ways;
}

std::string WayBook::remember(std::span<const Device> devices, std::size_t own,
                              const wire::EndpointAddress& peer, const Way& way) {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find({own, host_text(peer)});
  if (at == known_.end()) return {};
  Known& known = at->second;
  const std::pair reached{way.device, way.address};
  if (std::exchange(known.answered, reached) == reached) return {};
  std::stable_partition(known.ways.begin(), known.ways.end(), [&](const Way& other) {
    return std::pair(other.device, other.address) == reached;
  });
  if (way.device == own && way.address == 0) return {};
  return fmt::format(
      "connections of {} ({}) to {} go from {} ({}) to {}, the pair of addresses that answers; "
      "NCCL's topology assumes {} to {}",
      devices[own].name, to_string(devices[own].ip), host_text(peer), devices[way.device].name,
      to_string(devices[way.device].ip), host_text(way.to), devices[own].name, host_text(peer));
}

void WayBook::clear() {
  const std::lock_guard lock(mutex_);
  known_.clear();
}

}  // namespace dlcp::engine
