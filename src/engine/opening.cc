#include "engine/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "datapath/device_address.h"
#include "engine/clock.h"

namespace dlcp::engine {

Opening::Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
                 Duration patience, Over lanes)
    : port_(port),
      context_(context),
      peer_(peer),
      patience_(patience),
      lanes_(lanes),
      began_(steady_now()),
      over_(route.over),
      connection_(call_first(route.to)) {}

// How many lanes there are here it says at once; those of the peer come with the answer.
Connection* Opening::call_first(const wire::EndpointAddress& to) const {
  const std::size_t lanes = lanes_ == Over::kAllLanes ? port_.of(*over_).size() : 1;
  wire::Membership membership;
  membership.lanes = static_cast<std::uint8_t>(lanes > 1 ? lanes : 0);
  return port_.over(*over_)->engine->connect(context_, peer_.listener, to, membership);
}

core::ConnectionState Opening::poll() {
  const core::ConnectionState state = connection_->engine->poll_state(*connection_);
  if (state != core::ConnectionState::kCalling) {
    may_fall_back_ = false;
    return state == core::ConnectionState::kOpen ? poll_others() : state;
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
  connection_ = call_first(route->to);
  return true;
}

void Opening::call_others() {
  called_others_ = true;
  members_.push_back({port_.holder_of(connection_->engine), connection_});
  if (lanes_ == Over::kOneLane) return;
  const auto here = port_.of(*over_);
  const auto there = connection_->engine->peer_lanes(*connection_);
  for (std::size_t i = 1; i < std::min(here.size(), there.size() + 1); ++i) {
    const auto address = datapath::decode_device_address(there[i - 1]);
    if (!address || !address->has(over_->locator)) return;  // then the peer gives up
    const wire::Membership membership{connection_->id, static_cast<std::uint8_t>(i),
                                      static_cast<std::uint8_t>(here.size())};
    Connection* const other = here[i].engine->connect(
        context_, peer_.listener, encode(address->only(over_->locator)), membership);
    members_.push_back({here[i].engine, other});
  }
}

// kOpen once all are.
core::ConnectionState Opening::poll_others() {
  if (!called_others_) call_others();
  auto slowest = core::ConnectionState::kOpen;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const auto state = members_[i].engine->poll_state(*members_[i].connection);
    if (state == core::ConnectionState::kClosed) {
      connection_ = members_[i].connection;
      return state;
    }
    if (state != core::ConnectionState::kOpen) slowest = core::ConnectionState::kConnecting;
  }
  return slowest;
}

Bundle Opening::bundle() const {
  return called_others_ ? Bundle(members_)
                        : Bundle({{port_.holder_of(connection_->engine), connection_}});
}

}  // namespace dlcp::engine
