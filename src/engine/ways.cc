#include "engine/ways.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>

#include "datapath/device_address.h"
#include "engine/carrier.h"

namespace dlcp::engine {
namespace {

bool has_own_route(const Device& device, const datapath::IpAddress& to,
                   const RouteLookup& look_up) {
  if (device.ip.family != to.family) return false;
  if (to.is_link_local() || device.is_routed_to) return true;
  const auto chosen = look_up({to, device.ip, 0});
  if (chosen && chosen->is_local) return true;
  const auto link = static_cast<int>(::if_nametoindex(device.name.c_str()));
  return look_up({to, device.ip, link}).has_value();
}

bool is_udp_alone(const Device& device) {
  return device.accesses.size() == 1 && device.over(kUdp) != nullptr;
}

}  // namespace

std::size_t find_way(std::span<const Device> devices, std::size_t own,
                     const datapath::IpAddress& to, const RouteLookup& look_up) {
  if (devices.size() < 2 || own >= devices.size() || !is_udp_alone(devices[own]) ||
      has_own_route(devices[own], to, look_up))
    return own;
  const auto route = look_up({to, std::nullopt, 0});
  if (!route || !route->source) return own;
  const auto found = std::ranges::find_if(devices, [&](const Device& device) {
    return device.ip == *route->source && is_udp_alone(device);
  });
  return found == devices.end() ? own : static_cast<std::size_t>(found - devices.begin());
}

WayBook::Way WayBook::way(std::span<const Device> devices, std::size_t own,
                          const wire::EndpointAddress& peer) {
  const auto to = datapath::decode_device_address(peer);
  if (!to || devices.size() < 2 || own >= devices.size()) return {own, {}};
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] =
      known_.try_emplace({to_string(devices[own].ip), to_string(to->ip)}, std::string());
  if (is_new) at->second = devices[find_way(devices, own, to->ip, look_up_)].name;
  const auto found = std::ranges::find(devices, at->second, &Device::name);
  if (found == devices.end()) return {own, {}};
  Way way{static_cast<std::size_t>(found - devices.begin()), {}};
  if (is_new && way.device != own)
    way.news = fmt::format(
        "connections of {} ({}) to {} start from {} ({}): {} has no route there; NCCL's topology "
        "assumes {}",
        devices[own].name, to_string(devices[own].ip), to_string(to->ip), found->name,
        to_string(found->ip), devices[own].name, devices[own].name);
  return way;
}

}  // namespace dlcp::engine
