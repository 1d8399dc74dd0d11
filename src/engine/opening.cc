#include "engine/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "datapath/device_address.h"
#include "engine/clock.h"

namespace dlcp::engine {

Opening::Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
                 Duration patience)
    : port_(port),
      context_(context),
      peer_(peer),
      patience_(patience),
      began_(steady_now()),
      over_(route.over),
      connection_(port.over(*route.over)->engine->connect(context, peer.listener, route.to)) {}

core::ConnectionState Opening::poll() {
  const core::ConnectionState state = connection_->engine->poll_state(*connection_);
  if (state != core::ConnectionState::kCalling) {
    may_fall_back_ = false;
    return state;
  }
  if (may_fall_back_ && steady_now() - began_ >= patience_ && fall_back())
    return connection_->engine->poll_state(*connection_);
  return state;
}

bool Opening::fall_back() {
  auto route = choose_route(port_, peer_.address, over_);
  if (!route) {
    may_fall_back_ = false;
    return false;
  }
  const auto address = datapath::decode_device_address(peer_.address);
  fallback_ = fallback_words(
      *route->over, *over_,
      fmt::format("the peer at {} has not answered over {} for {} ms; check that switches and "
                  "firewalls pass {}",
                  address ? to_string(address->ip) : "an unknown address", over_->name,
                  std::chrono::duration_cast<std::chrono::milliseconds>(patience_).count(),
                  over_->needs));
  connection_->engine->close(connection_);
  over_ = route->over;
  began_ = steady_now();
  connection_ = port_.over(*over_)->engine->connect(context_, peer_.listener, route->to);
  return true;
}

}  // namespace dlcp::engine
