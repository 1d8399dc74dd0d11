// The opening of a connection to another rank, or of a bundle of them over as many lanes as both
// have. It uses the best carrier that both have, and the next one if the peer does not answer. It
// also tries the ways (ways.h) one after another, repeatedly, until one is answered. A peer that
// has not answered over a carrier or way has not received START there either, so no listener
// accepts that connection any more and data cannot arrive twice.
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

// The ways to try if the peer does not answer.
struct OpeningWays {
  WayBook::Ways ways;  // the first one is that of `route`; fewer than 2: no choice
  std::function<Result<Port>(std::size_t device)> port_of;
  Duration until{0};  // since the start; after it, the opening fails
};

class Opening {
 public:
  struct Peer {
    wire::Invitation listener;
    wire::EndpointAddress address;  // all locators of the peer
  };
  enum class Over : std::uint8_t { kOneLane, kAllLanes };
  // `route` was chosen for `peer`. `patience`: how long a carrier other than the last may remain
  // unanswered.
  Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience, Over lanes = Over::kOneLane, OpeningWays ways = {});

  // Drives a step. The caller then uses or closes the connections, whether open or failed.
  core::ConnectionState poll();
  // The first connection, or the failed one; nullptr if failure() has a value.
  Connection* connection() const { return connection_; }
  // All connections.
  Bundle bundle() const;
  const wire::Invitation& listener() const { return peer_.listener; }
  // See Route::fallback; empty if no fallback was used.
  const std::string& fallback() const { return fallback_; }
  // The way that is being tried or is open; nullptr if there was no choice.
  const Way* way() const;
  // Set in kClosed if no way was answered. The context is not affected, and nothing was logged.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool has_ways() const { return ways_.ways.all.size() > 1; }
  Connection* call_first(const wire::EndpointAddress& to) const;
  bool uses_all_lanes() const;
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
  std::size_t rejected_ = 0;        // ways rejected in a row, up to the last
  std::optional<Error> first_why_;  // error of the first way
  std::optional<Error> failure_;
  const Carrier* over_;
  bool may_fall_back_ = true;
  Connection* connection_;
  bool called_others_ = false;
  std::vector<Bundle::Member> members_;  // set once the other lanes have been called
  std::string fallback_;
};

}  // namespace dlcp::engine
