// The protocol of one device, without clock, thread, system call or random source: everything it
// knows comes in as arguments. It owns the device's associations, streams (connections) and
// listeners: slot_table finds them, admission opens them, dispatch hands them what comes, agenda
// says who is next, lifecycle tells what they have done and ends them.
//
//   in:   connect / listen / post_* / close, on_packet, on_timeout, on_placed;
//   out:  placements() after each call that may place, then poll_transmit, poll_event, next_timeout
//
// The caller (src/engine, or a simulated world in the tests) makes sure that calls do not overlap.
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
#include "core/paths/path_state.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

class Endpoint {
 public:
  Endpoint(const Config& config, const wire::EndpointAddress& local_address,
           const Secrets& secrets);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- from above
  struct Listening {
    ListenerId id = 0;
    wire::Invitation invitation;  // goes into the handle, with local_address
  };
  // `number`: of no other listener under the same Secrets::listeners here. `lanes`: endpoints that
  // listen under it too, at most wire::Welcome::kLanesMax; who calls is told.
  Listening listen(ContextId context, std::uint32_t number,
                   std::vector<wire::EndpointAddress> lanes = {});
  // Connections that nobody has accepted end with it, and who comes later is refused.
  void close_listener(Time now, ListenerId listener);

  // The sending side of a connection to a listener elsewhere. Never fails here: refusals and
  // time-outs arrive as kClosed.
  // `membership`: with lanes alone it begins a bundle, which has the connection's own name.
  ConnectionId connect(Time now, ContextId context, const wire::Invitation& listener,
                       const wire::EndpointAddress& to, const wire::Membership& membership = {},
                       OnSilence on_silence = OnSilence::kFailContext);
  // What the listener has told of lanes, and what the side that called has said of a bundle.
  std::vector<wire::EndpointAddress> peer_lanes(ConnectionId connection) const;
  wire::Membership membership(ConnectionId connection) const;
  // Instead of connect(), for those who cannot work together: the listener is told why, a few times
  // as nobody confirms it, and gets kDeclined.
  void decline(Time now, ContextId context, const wire::Invitation& listener,
               const wire::EndpointAddress& to, Refusal why);
  // The receiving side of the next connection that a peer has opened to the listener, if any.
  std::optional<ConnectionId> accept(ListenerId listener);
  ConnectionState state(ConnectionId connection) const;

  // Messages match in order: the k-th send with the peer's k-th receive. False when the connection
  // cannot take it now (too many outstanding, or not open yet): try again later. Memory must stay
  // valid until the event, or until close(). A message may lose only what a licence at both ends
  // allows.
  bool post_send(Time now, ConnectionId connection, RequestId request,
                 std::span<const std::byte> message, const Licence& licence = {});
  bool post_receive(Time now, ConnectionId connection, RequestId request,
                    std::span<std::byte> buffer, const Licence& licence = {});

  // Whether something that was posted there waits for nothing but its turn and the window: neither
  // for the peer to post a receive, nor, if it is more than the peer takes at once, for leave.
  bool has_sendable(ConnectionId connection) const;

  // Returns at once. The memory of unfinished requests is never touched again; if there were any,
  // the peer is told that the connection was aborted. A receiving side leaves a tombstone that
  // still answers.
  void close(Time now, ConnectionId connection);
  // As close(), but every connection of the context fails with `error` and tells its peer.
  void fail_context(Time now, ContextId context, const Error& error);
  // From here on every message is exact, whatever its licence, or no longer: then those that are
  // posted afterwards may lose again what theirs allows.
  void forbid_loss(bool forbidden);
  // True while a peer has yet to confirm the end of a closed connection; finalize lingers on it.
  bool has_unconfirmed_closes() const;
  // RESETs and refusals: each is said a few times, as nobody confirms it.
  bool has_resets_to_send() const;

  // --- from and to the network
  void on_packet(Time now, const wire::RxPacket& packet);
  // The network says that nobody takes a frame that begins so: the connection it belongs to is
  // asked at once, and given up soon if nothing answers.
  void on_refused(Time now, std::span<const std::byte> frame);
  void on_timeout(Time now);
  void on_placed(Time now, const PlacementName& name);  // one of that name (Config::placed_later)
  // kNever: waits for nothing. Up to date once poll_transmit has found nothing more to send.
  Time next_timeout() const;
  // Fills `out` and returns how many; what the packets reference stays valid until the next call.
  std::size_t poll_transmit(Time now, std::span<wire::TxPacket> out);

  // What the last of those calls wants copied; take it before the next call to anything here.
  std::span<const Placement> placements() const;
  std::optional<Event> poll_event();

  // Of both sides, those included that no one has accepted or that have not started.
  std::size_t connection_count() const;
  Counters counters() const;  // of all contexts
  Counters counters(ContextId context) const;
  std::vector<PathState> path_states() const;  // of all sending connections
  const Config& config() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dlcp::core
