#include "engine/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "datapath/udp/udp_address.h"
#include "engine/clock.h"

namespace dlcp::engine {

Opening::Opening(const Engines& engines, core::ContextId context, const Peer& peer,
                 const Route& route, Duration patience)
    : engines_(engines),
      context_(context),
      peer_(peer),
      patience_(patience),
      began_(steady_now()),
      may_fall_back_(route.over == Carrier::kRoce && engines.udp != nullptr),
      connection_(engines.over(route.over)->connect(context, peer.listener, route.to)) {}

core::ConnectionState Opening::poll() {
  const core::ConnectionState state = connection_->engine->poll_state(*connection_);
  if (state != core::ConnectionState::kCalling) {
    may_fall_back_ = may_fall_back_ && state != core::ConnectionState::kConnecting;
    return state;
  }
  if (may_fall_back_ && steady_now() - began_ >= patience_ && fall_back()) {
    return connection_->engine->poll_state(*connection_);
  }
  return state;
}

bool Opening::fall_back() {
  may_fall_back_ = false;
  auto route = choose_route(std::nullopt, engines_.udp->address(), peer_.address);
  if (!route || !engines_.udp->check_reachable(route->to)) {
    return false;
  }
  const auto address = datapath::decode_udp_address(peer_.address);
  why_not_roce_ = fmt::format(
      "the peer at {} has not answered over RoCE for {} ms; check that switches and firewalls pass "
      "UDP port 4791",
      address ? to_string(address->ip) : "an unknown address",
      std::chrono::duration_cast<std::chrono::milliseconds>(patience_).count());
  connection_->engine->close(connection_);
  connection_ = engines_.udp->connect(context_, peer_.listener, route->to);
  return true;
}

}  // namespace dlcp::engine
