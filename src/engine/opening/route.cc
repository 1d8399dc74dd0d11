#include "engine/opening/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "datapath/address/device_address.h"

namespace dlcp::engine {
namespace {

using datapath::DeviceAddress;

const char* family_of(const DeviceAddress& address) {
  return address.ip.family == datapath::IpFamily::kV4 ? "IPv4" : "IPv6";
}

// Returns an empty text if packets can use the carrier. At least one of the two ranks must have it.
std::string obstacle(const Carrier& carrier, const std::optional<DeviceAddress>& here,
                     const DeviceAddress& peer) {
  if (!here) {
    return fmt::format("this rank does not use {}, but the peer at {} does", carrier.name,
                       to_string(peer.ip));
  }
  if (!peer.has(carrier.locator)) {
    return fmt::format("the peer at {} does not use {}, but this rank at {} does",
                       to_string(peer.ip), carrier.name, to_string(here->ip));
  }
  if (here->ip.family != peer.ip.family) {
    return fmt::format("the {} addresses are {} ({}) here and {} ({}) there, of different families",
                       carrier.name, to_string(here->ip), family_of(*here), to_string(peer.ip),
                       family_of(peer));
  }
  return {};
}

}  // namespace

std::string fallback_words(const Carrier& used, const Carrier& better, const std::string& why) {
  return fmt::format("over {} instead of {}: {}", used.name, better.name, why);
}

Result<Route> choose_route(std::span<const LocalAddress> ours, const wire::EndpointAddress& peer,
                           const Carrier* after) {
  const auto theirs = datapath::decode_device_address(peer);
  if (!theirs) {
    return Error{ErrorCode::kInvalidUsage, "the address in the peer's handle has an unknown form",
                 "run the same plugin version on all ranks"};
  }
  std::string obstacles;
  std::string fallback;
  const Carrier* better = nullptr;
  auto order = carriers();
  if (after != nullptr) {
    const auto passed = std::ranges::find(order, after);
    order = {passed + 1, order.end()};
  }
  for (const Carrier* carrier : order) {
    const auto own = std::ranges::find(ours, carrier, &LocalAddress::over);
    const auto here =
        own == ours.end() ? std::nullopt : datapath::decode_device_address(own->address);
    if (!here && !theirs->has(carrier->locator)) continue;
    const std::string why_not = obstacle(*carrier, here, *theirs);
    if (why_not.empty()) {
      if (better != nullptr) fallback = fallback_words(*carrier, *better, obstacles);
      return Route{carrier, encode(theirs->only(carrier->locator)), std::move(fallback)};
    }
    better = better != nullptr ? better : carrier;
    obstacles += (obstacles.empty() ? "" : "; ") + why_not;
  }
  return Error{ErrorCode::kInvalidUsage,
               obstacles.empty() ? "the two ranks have no other network in common" : obstacles,
               "see `dlcp doctor` on both hosts; set DLCP_DATAPATH to the same value on all "
               "ranks, or leave it at auto, and choose interfaces of one address family "
               "(NCCL_SOCKET_FAMILY, DLCP_IFNAME)"};
}

Result<Route> choose_route(const Port& port, const wire::EndpointAddress& peer,
                           const Carrier* after) {
  std::vector<LocalAddress> ours;
  for (const Lane& lane : port.lanes())
    ours.push_back({lane.over, lane.engine->address()});
  auto route = choose_route(ours, peer, after);
  if (!route) return route;
  if (auto reachable = port.over(*route->over)->engine->check_reachable(route->to); !reachable)
    return reachable.error();
  return route;
}

}  // namespace dlcp::engine
