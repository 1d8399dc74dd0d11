// Opens a connection to another rank, or a bundle: one connection on each lane, for as many lanes
// as both ranks have. The connections on further lanes follow when the first one is open. If the
// peer does not answer the first one, an Opening closes it and makes another attempt:
// - If the caller passes several ways (ways.h: pairs of a local device and an address of the peer,
//   for UDP), it tries them in their order, again and again, and waits longer in each round.
// - Otherwise it begins with the carrier of the route and tries each later one in the order of
//   carriers() (RoCE, then UDP) that both ranks have, once.
//
// An attempt that was closed in this way cannot deliver data a second time: a listener passes a
// connection to accept() only after START (core/setup), which this side sends only after an answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/endpoint_types.h"
#include "engine/lane/connections/connection.h"
#include "engine/opening/bundle.h"
#include "engine/opening/route.h"
#include "engine/opening/ways.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/keys.h"

namespace dlcp::engine {

// The ways to try if the peer does not answer. With fewer than two ways there is nothing to choose,
// and the other members are not used.
struct OpeningWays {
  WayBook::Ways ways;  // the first way must be that of Opening's `route`
  std::function<Result<Port>(std::size_t device)> port_of;  // the port of a way's local device
  Duration until{0};  // the opening fails if no way was answered in this time after its start
};

class Opening {
 public:
  struct Peer {
    wire::Invitation listener;
    wire::EndpointAddress address;  // where the peer listens, over all of its carriers
  };
  enum class Over : std::uint8_t { kOneLane, kAllLanes };
  // Starts the first connection, from `port` over `route`, which choose_route() returned for `port`
  // and `peer`. `patience`: if the peer does not answer over a carrier in this time, the next
  // carrier is tried, if there is one.
  Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience, Over lanes = Over::kOneLane, OpeningWays ways = {});

  // Performs a step without waiting, and returns the state of the whole opening. The caller repeats
  // it until the state is one of these:
  // - kOpen: all connections are open.
  // - kClosed, failure() has a value: the peer has not answered. There is no connection.
  // - kClosed, failure() is empty: connection() has failed, and its `error` is the reason.
  // In all states the connections of bundle() belong to the caller, who must close them.
  core::ConnectionState poll();
  // The connection on the first lane; after a failure, the one that failed. nullptr if failure()
  // has a value.
  Connection* connection() const { return connection_; }
  // The connections of all lanes; before the first one is open, only that one. Empty if failure()
  // has a value.
  Bundle bundle() const;
  const wire::Invitation& listener() const { return peer_.listener; }
  // The text for the log if the opening has gone on to another carrier (as Route::fallback);
  // otherwise empty.
  const std::string& fallback() const { return fallback_; }
  // The way of the current attempt or of the open connection; nullptr if no ways were passed.
  const Way* way() const;
  // Why the peer has not answered (over the first way, if there are several). Unlike the failure of
  // a connection, this does not end the other connections of the context, and nothing was logged,
  // because the caller may have given up this opening.
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
  std::size_t rejected_ = 0;        // how many of the latest attempts in a row were rejected
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
