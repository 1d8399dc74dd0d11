// A connection to another rank while it is being opened, or a bundle of them over as many lanes as
// both have: over the best carrier that both have, and over the next after all if nobody answers
// there. Likewise by the next way (ways.h), one after the other and then round again, until one
// answers. A peer that has not answered over one carrier, or way, has not been told START there
// either, so nothing accepts that connection any more and no data can be in two places.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/endpoint_types.h"
#include "engine/bundle.h"
#include "engine/connection.h"
#include "engine/route.h"
#include "engine/ways.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/keys.h"

namespace dlcp::engine {

// What to try if the peer does not answer.
struct OpeningWays {
  WayBook::Ways ways;  // `route` of the opening leads by the first; with fewer than 2 it is all
  std::function<Result<Port>(std::size_t device)> port_of;
  Duration until{0};  // since the beginning; then the opening has failed
};

class Opening {
 public:
  struct Peer {
    wire::Invitation listener;
    wire::EndpointAddress address;  // of all that it has
  };
  enum class Over : std::uint8_t { kOneLane, kAllLanes };
  // `route`: chosen for `peer`. `patience`: how long a carrier that is not the last may be silent.
  Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience, Over lanes = Over::kOneLane, OpeningWays ways = {});

  // Drives a step. What is open, or has failed, is the caller's to use or to close.
  core::ConnectionState poll();
  // The first, or the one that has failed; nullptr after failure() has a value.
  Connection* connection() const { return connection_; }
  // All of them.
  Bundle bundle() const;
  const wire::Invitation& listener() const { return peer_.listener; }
  // See Route::fallback; empty if nobody fell back here.
  const std::string& fallback() const { return fallback_; }
  // That by which it is being tried, or open; nullptr: there was nothing to choose.
  const Way* way() const;
  // kClosed as no way has been answered. The context goes on, and no log line was written.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool has_ways() const { return ways_.ways.all.size() > 1; }
  Connection* call_first(const wire::EndpointAddress& to) const;
  bool fall_back();
  Duration way_patience() const;
  core::ConnectionState poll_way(core::ConnectionState state);
  void take_next_way();
  void call_others();
  core::ConnectionState poll_others();

  Port port_;
  const core::ContextId context_;
  const Peer peer_;
  const Duration patience_;
  const Over lanes_;
  const OpeningWays ways_;
  const Time called_first_;
  Time began_;
  std::size_t way_ = 0;
  std::size_t ways_tried_ = 1;
  std::size_t rejected_ = 0;        // ways in a row, up to the last
  std::optional<Error> first_why_;  // of the first way
  std::optional<Error> failure_;
  const Carrier* over_;
  bool may_fall_back_ = true;
  Connection* connection_;
  bool called_others_ = false;
  std::vector<Bundle::Member> members_;  // once the others have been called
  std::string fallback_;
};

}  // namespace dlcp::engine
