#include "engine/opening/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "datapath/address/device_address.h"
#include "engine/host/clock.h"

namespace dlcp::engine {
namespace {

// A rank that is busy starting may answer late, and the way that NCCL's topology assumes deserves a
// wait. kWayPatience is twice the delay of Happy Eyeballs (RFC 8305); a way that was answered
// before gets longer.
constexpr Duration kWayPatience = 500ms;
constexpr Duration kKnownWayPatience = 2s;
constexpr std::size_t kDoublingsMax = 4;

}  // namespace

Opening::Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
                 Duration patience, Over lanes, OpeningWays ways)
    : port_(port),
      context_(context),
      peer_(peer),
      patience_(patience),
      lanes_(lanes),
      ways_(std::move(ways)),
      called_first_(steady_now()),
      began_(called_first_),
      over_(route.over),
      connection_(call_first(route.to)) {}

// The number of local lanes is sent with the first packet; the peer's lanes arrive with the answer.
Connection* Opening::call_first(const wire::EndpointAddress& to) const {
  const std::size_t lanes = uses_all_lanes() ? port_.of(*over_).size() : 1;
  wire::Membership membership;
  membership.lanes = static_cast<std::uint8_t>(lanes > 1 ? lanes : 0);
  return port_.over(*over_)->engine->connect(context_, peer_.listener, to, membership,
                                             core::OnSilence::kEndAlone);
}

// All lanes of the peer's device have its own address, so there are several only if that one
// answers.
bool Opening::uses_all_lanes() const {
  return lanes_ == Over::kAllLanes && (way() == nullptr || way()->address == 0);
}

const Way* Opening::way() const {
  return ways_.ways.all.empty() ? nullptr : &ways_.ways.all[way_];
}

core::ConnectionState Opening::poll() {
  if (failure_) return core::ConnectionState::kClosed;
  const core::ConnectionState state = connection_->engine->poll_state(*connection_);
  if (has_ways() && !called_others_ &&
      (state == core::ConnectionState::kCalling || state == core::ConnectionState::kClosed))
    return poll_way(state);
  if (state == core::ConnectionState::kClosed && connection_->ended_alone) {
    failure_ = connection_->error;
    connection_->engine->close(std::exchange(connection_, nullptr));
    return state;
  }
  if (state != core::ConnectionState::kCalling) {
    may_fall_back_ = false;
    return state == core::ConnectionState::kOpen ? poll_others() : state;
  }
  if (may_fall_back_ && steady_now() - began_ >= patience_ && fall_back())
    return connection_->engine->poll_state(*connection_);
  return state;
}

// Doubles after each round over all ways.
Duration Opening::way_patience() const {
  const bool is_known = ways_.ways.is_confirmed && ways_tried_ == 1;
  const std::size_t rounds = (ways_tried_ - 1) / ways_.ways.all.size();
  return std::min(is_known ? kKnownWayPatience : kWayPatience, ways_.until / 4) *
         (1 << std::min(rounds, kDoublingsMax));
}

core::ConnectionState Opening::poll_way(core::ConnectionState state) {
  const bool is_rejected = state == core::ConnectionState::kClosed;
  if (is_rejected && connection_->error.fault == PeerFault::kNone) return state;
  const Time now = steady_now();
  const bool is_late = now - called_first_ >= ways_.until;
  if (!is_rejected && !is_late && now - began_ < way_patience()) return state;
  const wire::EndpointAddress& to = ways_.ways.all[way_].to;
  const auto why = connection_->engine->abandon(connection_, to, now - called_first_);
  if (!why) return core::ConnectionState::kConnecting;  // it has just answered
  rejected_ = is_rejected ? rejected_ + 1 : 0;
  connection_ = nullptr;
  if (way_ == 0) first_why_ = *why;
  if (!is_late && rejected_ < ways_.ways.all.size()) take_next_way();
  if (connection_ != nullptr) return core::ConnectionState::kCalling;
  failure_ = first_why_.value_or(*why);
  const std::size_t others = ways_.ways.all.size() - 1;
  failure_->what += fmt::format("; {} other pair{} of addresses {} not work either", others,
                                others == 1 ? "" : "s", others == 1 ? "does" : "do");
  return core::ConnectionState::kClosed;
}

// Skips devices that cannot be opened. If none can be opened, there is no connection.
void Opening::take_next_way() {
  for (std::size_t i = 0; i < ways_.ways.all.size(); ++i) {
    way_ = (way_ + 1) % ways_.ways.all.size();
    ++ways_tried_;
    auto port = ways_.port_of(ways_.ways.all[way_].device);
    if (!port || port->over(*over_) == nullptr) continue;
    port_ = port->for_connection();
    began_ = steady_now();
    connection_ = call_first(ways_.ways.all[way_].to);
    return;
  }
}

bool Opening::fall_back() {
  auto route = choose_route(port_, peer_.address, over_);
  // The peer may have answered to another thread meanwhile, and then accepts this attempt.
  if (!route || !connection_->engine->abandon(connection_, peer_.address, patience_)) {
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
  over_ = route->over;
  began_ = steady_now();
  connection_ = call_first(route->to);
  return true;
}

void Opening::call_others() {
  called_others_ = true;
  members_.push_back({port_.holder_of(connection_->engine), connection_});
  if (!uses_all_lanes()) return;
  const auto here = port_.of(*over_);
  const auto there = connection_->engine->peer_lanes(*connection_);
  for (std::size_t i = 1; i < std::min(here.size(), there.size() + 1); ++i) {
    const auto address = datapath::decode_device_address(there[i - 1]);
    if (!address || !address->has(over_->locator)) return;  // the peer then gives up
    const wire::Membership membership{connection_->id, static_cast<std::uint8_t>(i),
                                      static_cast<std::uint8_t>(here.size())};
    Connection* const other = here[i].engine->connect(
        context_, peer_.listener, encode(address->only(over_->locator)), membership);
    members_.push_back({here[i].engine, other});
  }
}

// Returns kOpen once all lanes are open.
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
  if (connection_ == nullptr) return Bundle();
  return called_others_ ? Bundle(members_)
                        : Bundle({{port_.holder_of(connection_->engine), connection_}});
}

}  // namespace dlcp::engine
