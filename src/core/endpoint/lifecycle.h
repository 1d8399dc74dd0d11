// The life of connections: reports completed requests and failures to the user, ends connections
// that fail or are closed (a failure ends its whole context), and leaves records that still answer
// the peer.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "core/association/association_table.h"
#include "core/endpoint/agenda.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/slot_table.h"
#include "util/check.h"
#include "util/memory/ring_queue.h"

namespace dlcp::core {

inline Agenda::Turn turn_of(const Slot& slot) {
  const bool sends = slot.party.sender() != nullptr || slot.party.send_association() != nullptr;
  if (sends) return Agenda::Turn::kData;
  const auto* receiving = slot.party.recv_association();
  return receiving && receiving->can_follow() ? Agenda::Turn::kFollower : Agenda::Turn::kAnswer;
}

class Lifecycle {
 public:
  Lifecycle(Commons& commons, SlotTable& slots, Agenda& agenda, AssociationTable& associations)
      : commons_(commons), slots_(slots), agenda_(agenda), associations_(associations) {}

  // Called after every change of a slot: reports completions and failures, and makes sure that the
  // slot is served in time. The slot may be free afterwards.
  void follow_up(Time now, Slot& slot);
  // The same for the association of a stream, which sends the stream's packets.
  void serve_association(std::uint64_t token);
  // Packets of the slot have left: after data, an ACK to the same peer may be due.
  void on_sent(Time now, const Slot& slot);
  // Starts the handshakes of streams that wait for the association: of the leader only, or of all
  // streams once the association is established.
  void begin_streams(Time now, SendAssociation& association);
  void serve_in_time(const Slot& slot) { agenda_.serve_at(slot.index, slot.party.next_timeout()); }

  // The user closes the connection: see Endpoint::close.
  void close(Time now, Slot& slot);
  // Ends the connection. The peer is told how; nullopt if it need not be told.
  void depart(Time now, Slot& slot, std::optional<Departed::End> end);
  // The end is settled: the place is free as soon as the user has closed the connection.
  void leave(Slot& slot);
  // The failure of one connection ends all connections of its context, so that ranks that are not
  // neighbours of the failed rank learn of it from their neighbours. `cause` is the slot whose
  // connection failed first, if any; its event is reported first.
  void fail_context(Time now, ContextId context, const Error& error, Slot* cause);

  // Runs `call` on behalf of the connection or association with this token. A broken invariant ends
  // it, and guarded() returns a value-initialised result.
  template <class Call>
  auto guarded(Time now, std::uint64_t token, Call&& call) -> decltype(call()) {
    try {
      return call();
    } catch (const BrokenInvariant& breach) {
      on_breach(now, token, breach.what());
      return decltype(call())();
    }
  }
  // Changes the connection or association by `change`, and follows up. False: a broken invariant.
  template <class Change>
  bool change(Time now, std::uint64_t token, Change&& change) {
    return guarded(
        now, token,
        [&] {
          change();
          if (Slot* slot = slots_.find(token)) follow_up(now, *slot);
          return true;
        });
  }
  void on_breach(Time now, std::uint64_t token, std::string_view invariant);

  // Packets to the peer's host go without marks from now on.
  void unmark(const wire::EndpointAddress& peer);

  void report(Event event) { events_.push_back(std::move(event)); }
  std::optional<Event> poll_event();

  // How long the record of an ended connection continues to answer the peer.
  Duration farewell_time() const {
    return std::min<Duration>(commons_.config.peer_timeout, std::chrono::seconds(30));
  }

 private:
  void serve(const Slot& slot);
  void report_done(Slot& slot, SendStream& connection);
  void report_done(Slot& slot, RecvStream& connection);
  void on_stream_left(Time now, std::uint64_t association);
  void fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason,
                 bool ends_alone = false);

  Commons& commons_;
  SlotTable& slots_;
  Agenda& agenda_;
  AssociationTable& associations_;
  RingQueue<Event> events_;
};

}  // namespace dlcp::core
