// What becomes of connections: tells the user above what they have done, ends them when they fail
// or are closed, and with them all others of their context, and leaves behind what still answers.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "core/association/association_table.h"
#include "core/endpoint/agenda.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/slot_table.h"
#include "util/check.h"
#include "util/ring_queue.h"

namespace dlcp::core {

inline Agenda::Turn turn_of(const Slot& slot) {
  const bool sends = slot.party.sender() != nullptr || slot.party.send_association() != nullptr;
  return sends ? Agenda::Turn::kData : Agenda::Turn::kAnswer;
}

class Lifecycle {
 public:
  Lifecycle(Commons& commons, SlotTable& slots, Agenda& agenda, AssociationTable& associations)
      : commons_(commons), slots_(slots), agenda_(agenda), associations_(associations) {}

  // After anything happened to a slot: tells completions and failures, and sees to it that it is
  // served in time. The slot may be free afterwards.
  void follow_up(Time now, Slot& slot);
  // The same for the association of a stream, which sends its packets.
  void serve_association(std::uint64_t token);
  // Streams that wait for the association say HELLO: one for all, or each, once it is established.
  void begin_streams(Time now, SendAssociation& association);
  void serve_in_time(const Slot& slot) { agenda_.serve_at(slot.index, slot.party.next_timeout()); }

  // The user above lets go of the connection: see Endpoint::close.
  void close(Time now, Slot& slot);
  // The connection ends; the peer is told `farewell` unless it knows.
  void depart(Time now, Slot& slot, std::optional<Departed> farewell);
  // A matter that is settled: the place is free as soon as the user lets go of it.
  void leave(Slot& slot);
  // One connection's end is the end of all in its context: ranks that are not neighbours of the
  // failed one learn of it through theirs. `cause` is the slot whose connection failed by itself,
  // if any; its event comes first.
  void fail_context(Time now, ContextId context, const Error& error, Slot* cause);

  // Runs `call`, work on this token's connection; a breach of an invariant ends it and gives 0.
  template <class Call>
  auto guarded(Time now, std::uint64_t token, Call&& call) -> decltype(call()) {
    try {
      return call();
    } catch (const BrokenInvariant& breach) {
      on_breach(now, token, breach.what());
      return decltype(call())();
    }
  }
  void on_breach(Time now, std::uint64_t token, std::string_view invariant);

  void tell(Event event) { events_.push_back(std::move(event)); }
  std::optional<Event> poll_event();

  // How long what a connection left goes on answering.
  Duration farewell_time() const {
    return std::min<Duration>(commons_.config.peer_timeout, std::chrono::seconds(30));
  }

 private:
  void tell_done(Slot& slot, SendStream& connection);
  void tell_done(Slot& slot, RecvStream& connection);
  void on_stream_left(Time now, std::uint64_t association);
  void fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason,
                 bool was_attempt = false);

  Commons& commons_;
  SlotTable& slots_;
  Agenda& agenda_;
  AssociationTable& associations_;
  RingQueue<Event> events_;
};

}  // namespace dlcp::core
