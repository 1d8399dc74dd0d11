// The protocol of one device, without clock, thread, system call or random source: all inputs are
// arguments. It owns the device's associations, streams (connections) and listeners. slot_table
// finds them, admission opens them, dispatch delivers packets to them, agenda schedules them,
// lifecycle reports their events and ends them.
//
//   in:   connect / listen / post_* / close, on_packets, on_timeout, on_placed;
//   out:  placements() after each call that may place, then poll_transmit, poll_event, next_timeout
//
// The caller (src/engine, or the simulator in tests) makes sure that calls do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/config.h"
#include "core/counters.h"
#include "core/endpoint_types.h"
#include "util/time.h"
#include "wire/data/placed_packet.h"

namespace dlcp::core {

class Endpoint {
 public:
  Endpoint(const Config& config, const wire::EndpointAddress& local_address,
           const Secrets& secrets);
  ~Endpoint();

  // --- from the caller
  // `number` is unique among the listeners of this endpoint. `lanes`: other endpoints that listen
  // under the same number, at most wire::Welcome::kLanesMax. Callers receive the list in WELCOME.
  Listening listen(ContextId context, std::uint32_t number,
                   std::vector<wire::EndpointAddress> lanes = {});
  // Ends connections that have not been accepted. Later HELLOs to the listener are refused.
  void close_listener(Time now, ListenerId listener);

  // Opens the sending side of a connection to a remote listener. It never fails here: refusals and
  // time-outs arrive as kClosed. A `membership` with lanes but without a bundle starts a new
  // bundle, which is named after the connection.
  ConnectionId connect(Time now, ContextId context, const wire::Invitation& listener,
                       const wire::EndpointAddress& to, const wire::Membership& membership = {},
                       OnSilence on_silence = OnSilence::kFailContext);
  // The lanes that the listener has announced, and the bundle that the calling side has named.
  std::vector<wire::EndpointAddress> peer_lanes(ConnectionId connection) const;
  wire::Membership membership(ConnectionId connection) const;
  // Tells the listener, instead of connecting, that the two processes cannot work together. The
  // refusal is sent a few times, because it is not acknowledged. The listener reports kDeclined.
  void decline(Time now, ContextId context, const wire::Invitation& listener,
               const wire::EndpointAddress& to, Refusal why);
  // The receiving side of the next connection to the listener, or nullopt if there is none.
  std::optional<ConnectionId> accept(ListenerId listener);
  ConnectionState state(ConnectionId connection) const;
  bool peer_has_closed(ConnectionId connection) const;  // of a sender: it receives no more

  // Messages match in order: the k-th send with the peer's k-th receive. False: too many requests
  // are outstanding, or the connection is not open yet; try again later. Memory must stay valid
  // until the event or close(). Loss needs a licence at both ends.
  bool post_send(Time now, ConnectionId connection, RequestId request,
                 std::span<const std::byte> message, const Licence& licence = {},
                 MemoryKind kind = MemoryKind::kHost);
  bool post_receive(Time now, ConnectionId connection, RequestId request,
                    std::span<std::byte> buffer, const Licence& licence = {},
                    MemoryKind kind = MemoryKind::kHost);
  bool reads_payloads(ConnectionId connection) const;  // if so, it cannot send kDevice memory
  // True if posted data waits only for its turn and the windows. False if it waits for the peer to
  // post a receive, or, if it exceeds the receiver's reserve, for more credit.
  bool has_sendable(ConnectionId connection) const;
  bool has_in_flight(ConnectionId connection) const;  // or others that send to the same peer have

  // Returns at once. The memory of unfinished requests is not accessed any more; if there were any,
  // and leave() was not called, the peer is told that the connection was aborted.
  void close(Time now, ConnectionId connection);
  // Like close() for every connection of the context: each fails with `error` and tells its peer.
  void fail_context(Time now, ContextId context, const Error& error);
  // The caller will close it when its messages have arrived; until then it fails alone.
  void leave(ConnectionId connection);
  // While loss is forbidden, messages that are posted to be sent are exact, and no receive
  // completes with a loss. A receive that was posted then may lose later if its message has a
  // licence.
  void forbid_loss(bool forbidden);
  // True until the peers have confirmed the end of all closed connections. Finalize waits for this.
  bool has_unconfirmed_closes() const;
  bool has_resets_to_send() const;  // each is sent a few times, because none is acknowledged

  // --- from and to the network
  // Handles the first of `packets`, at least one, and returns how many.
  std::size_t on_packets(Time now, std::span<const wire::RxPacket> packets);
  // An ICMP error says that the destination of `frame` is unreachable: the peer is probed at once.
  void on_refused(Time now, std::span<const std::byte> frame);
  void on_timeout(Time now);
  void on_placed(Time now, const PlacementName& name);
  // With Config::card: it has placed packets, or a permission has changed.
  void on_placed_run(Time now, const wire::PlacedRun& run);
  void on_permission(Time now, const PermissionEvent& event);
  Time next_timeout() const;  // up to date once poll_transmit has nothing more to send
  // Fills `out` and returns the number of packets, which reference memory until the next call.
  std::size_t poll_transmit(Time now, std::span<wire::TxPacket> out);

  // The copies that the last call requested. Read them before the next call.
  std::span<const Placement> placements() const;
  std::optional<Event> poll_event();

  std::size_t connection_count() const;  // of both sides, also if not accepted or not started
  Counters counters() const;             // of all contexts
  Counters counters(ContextId context) const;
  std::vector<PathState> path_states() const;  // of all sending connections
  const Config& config() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dlcp::core
