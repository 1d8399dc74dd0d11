#include "engine/route.h"

#include <fmt/format.h>

#include "datapath/udp/udp_address.h"

namespace dlcp::engine {
namespace {

using datapath::UdpAddress;

wire::EndpointAddress roce_part(UdpAddress address) {
  address.port_count = 0;
  address.ports = {};
  address.ip.scope = 0;
  return encode(address);
}

wire::EndpointAddress udp_part(UdpAddress address) {
  address.queue_pair = 0;
  return encode(address);
}

bool same_host(datapath::IpAddress a, datapath::IpAddress b) {
  a.scope = b.scope = 0;
  return a == b;
}

// Empty if packets can go over RoCE.
std::string obstacle(const std::optional<UdpAddress>& roce, const UdpAddress& peer) {
  if (!roce && peer.queue_pair == 0) {
    return "neither rank uses RoCE";
  }
  if (!roce) {
    return fmt::format("this rank does not use RoCE, the peer at {} does", to_string(peer.ip));
  }
  if (peer.queue_pair == 0) {
    return fmt::format("the peer at {} does not use RoCE, this rank at {} does", to_string(peer.ip),
                       to_string(roce->ip));
  }
  if (roce->ip.family != peer.ip.family) {
    return fmt::format("the RoCE addresses are {} here and {} there, not of one family",
                       to_string(roce->ip), to_string(peer.ip));
  }
  return {};
}

}  // namespace

std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& roce,
                                          const wire::EndpointAddress& udp) {
  const auto queue_pair = datapath::decode_udp_address(roce);
  auto both = datapath::decode_udp_address(udp);
  if (!queue_pair || !both || !same_host(queue_pair->ip, both->ip)) {
    return std::nullopt;
  }
  both->queue_pair = queue_pair->queue_pair;
  return encode(*both);
}

wire::EndpointAddress Engines::address() const {
  if (roce == nullptr || udp == nullptr) {
    return roce != nullptr ? roce->address() : udp->address();
  }
  return join(roce->address(), udp->address()).value_or(udp->address());
}

Result<Route> choose_route(const std::optional<wire::EndpointAddress>& roce,
                           const std::optional<wire::EndpointAddress>& udp,
                           const wire::EndpointAddress& peer) {
  const auto theirs = datapath::decode_udp_address(peer);
  if (!theirs) {
    return Error{ErrorCode::kInvalidUsage, "the address in the peer's handle is not one of DLCP's",
                 "run the same plugin version on all ranks"};
  }
  const auto here = roce ? datapath::decode_udp_address(*roce) : std::nullopt;
  const std::string why_not = obstacle(here, *theirs);
  if (why_not.empty()) {
    return Route{Carrier::kRoce, roce_part(*theirs), {}};
  }
  if (udp && theirs->port_count != 0) {
    const bool mixed = here || theirs->queue_pair != 0;
    return Route{Carrier::kUdp, udp_part(*theirs), mixed ? why_not : std::string()};
  }
  return Error{
      ErrorCode::kInvalidUsage,
      fmt::format("{}, and {} rank is set to do without UDP", why_not, udp ? "the peer's" : "this"),
      "see `dlcp doctor` on both; set DLCP_DATAPATH to the same on all ranks, or leave it "
      "at auto"};
}

Result<Route> choose_route(const Engines& engines, const wire::EndpointAddress& peer) {
  const auto address_of = [](const std::shared_ptr<Engine>& engine) {
    return engine != nullptr ? std::optional(engine->address()) : std::nullopt;
  };
  auto route = choose_route(address_of(engines.roce), address_of(engines.udp), peer);
  if (!route) {
    return route;
  }
  if (auto reachable = engines.over(route->over)->check_reachable(route->to); !reachable) {
    return reachable.error();
  }
  return route;
}

}  // namespace dlcp::engine
