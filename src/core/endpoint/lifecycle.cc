#include "core/endpoint/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/liveness/peer_errors.h"

namespace dlcp::core {
namespace {

// True if the failure ends this connection only: the listener has not answered, and the caller
// decides what follows.
bool is_attempt(const Slot& slot, const Error& error) {
  const SendStream* const sending = slot.party.sender();
  return slot.on_silence == OnSilence::kEndAlone && error.fault != PeerFault::kNone &&
         sending != nullptr && sending->peer_token() == 0 && !sending->handshake().joins();
}

}  // namespace

// ---- completed requests ----

void Lifecycle::report_done(Slot& slot, SendStream& connection) {
  while (const auto done = connection.pop_done()) {
    Event& event = events_.push_back({});
    event.kind = Event::Kind::kSendDone;
    event.connection = slot.token;
    event.request = done->request;
    event.bytes = done->memory.size();
    event.memory = done->memory;
  }
}

void Lifecycle::report_done(Slot& slot, RecvStream& connection) {
  while (auto done = connection.pop_done()) {
    Event& event = events_.push_back({});
    event.kind = Event::Kind::kReceiveDone;
    event.connection = slot.token;
    event.request = done->request;
    event.bytes = done->bytes;
    event.lost = done->lost;
    event.holes = std::move(done->holes);
  }
}

void Lifecycle::follow_up(Time now, Slot& slot) {
  slot.party.with_connection([&](auto& connection) {
    const bool unheard_of = slot.party.receiver() != nullptr && !slot.held_by_user;
    if (connection.failed() && unheard_of) return depart(now, slot, std::nullopt);
    report_done(slot, connection);
    if (!connection.failed()) return;
    const Error error = *connection.error();
    commons_.config.trace({now, connection.peer_token(), error.what, {}});
    if (is_attempt(slot, error) || slot.is_leaving)
      return fail_slot(now, slot, error, error.what, true);
    fail_context(now, slot.context, error, &slot);
  });
  if (slot.token == 0) return;
  if (slot.party.is_expired(now))
    return slot.party.is_association() ? associations_.release(slot) : leave(slot);
  if (slot.party.is_connection()) serve_association(slot.association);
  serve(slot);
}

void Lifecycle::serve(const Slot& slot) {
  agenda_.want_turn(slot.index, turn_of(slot));
  serve_in_time(slot);
}

void Lifecycle::serve_association(std::uint64_t token) {
  if (const Slot* slot = slots_.find(token)) serve(*slot);
}

void Lifecycle::on_sent(Time now, const Slot& slot) {
  const auto* sending = slot.party.send_association();
  const Slot* back = sending ? associations_.of_sender(sending->peer_address()) : nullptr;
  auto* receiving = back == nullptr ? nullptr : back->party.recv_association();
  if (receiving && receiving->on_answer(now)) serve(*back);
}

void Lifecycle::begin_streams(Time now, SendAssociation& association) {
  std::vector<std::uint64_t> waiting;
  if (association.established())
    association.for_each_stream([&](SendStream& stream) { waiting.push_back(stream.token()); });
  else if (const SendStream* leader = association.choose_leader())
    waiting.push_back(leader->token());
  for (const std::uint64_t token : waiting) {
    Slot* slot = slots_.find(token);
    if (slot == nullptr || slot->party.sender() == nullptr) continue;
    slot->party.sender()->begin(now);
    serve(*slot);
  }
}

// Ends the association after its last stream, or lets another stream send HELLO for it.
void Lifecycle::on_stream_left(Time now, std::uint64_t token) {
  Slot* slot = slots_.find(token);
  if (slot == nullptr) return;
  associations_.settle(now, *slot, farewell_time());
  if (slot->token != token) return;
  if (auto* sending = slot->party.send_association()) begin_streams(now, *sending);
  serve_association(token);
}

void Lifecycle::unmark(const wire::EndpointAddress& peer) {
  if (!commons_.unmarked_peers.add(peer)) return;
  Event event;
  event.kind = Event::Kind::kUnmarked;
  event.peer = peer;
  report(std::move(event));
}

std::optional<Event> Lifecycle::poll_event() {
  if (events_.empty()) return std::nullopt;
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

// ---- ends of connections ----

void Lifecycle::leave(Slot& slot) {
  if (const auto* departed = slot.party.departed()) {
    slots_.forget({departed->peer().token, departed->peer().address});
    const Slot* association = slots_.find(slot.association);
    auto* receiving = association ? association->party.recv_association() : nullptr;
    if (receiving) std::erase(receiving->departed(), slot.token);
  }
  slot.party = {};
  if (!slot.held_by_user) slots_.release(slot);
}

void Lifecycle::depart(Time now, Slot& slot, std::optional<Departed::End> end) {
  const std::uint64_t association = slot.association;
  if (auto* receiving = slot.party.receiver()) {
    // A stream that joined by one HELLO answers it again, because its WELCOME may have been lost.
    if (!end || !receiving->joined())
      slots_.forget({receiving->peer_token(), receiving->peer_address()});
  }
  if (!end) {
    leave(slot);
  } else {
    if (auto* receiving = slot.party.receiver())
      receiving->association().departed().push_back(slot.token);
    slot.party = Departed(now, std::move(*end), farewell_time(), commons_.config.paths);
    follow_up(now, slot);
  }
  on_stream_left(now, association);
}

void Lifecycle::close(Time now, Slot& slot) {
  commons_.placements.clear();
  slot.held_by_user = false;
  const auto end_of = [&slot](const auto& connection) -> std::optional<Departed::End> {
    using Kind = Departed::Kind;
    const auto peer = Departed::peer_of(connection);
    if (peer.token == 0) return std::nullopt;  // the peer has never answered
    if (connection.unfinished() && !slot.is_leaving)
      return Departed::End{Kind::kReset, peer, "the connection was aborted"};
    const Kind kind = connection.peer_closed() ? Kind::kConfirmed : Kind::kClosed;
    return Departed::End{kind, peer, {}, connection.completed()};
  };
  const bool ends = slot.party.with_connection(
      [&](const auto& connection) { depart(now, slot, end_of(connection)); });
  if (!ends && slot.party.is_nobody()) slots_.release(slot);
}

// Ends the connection in `slot`, if there is one. The user gets the error `told`, the peer
// `reason`.
void Lifecycle::fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason,
                          bool ends_alone) {
  slot.party.with_connection([&](const auto& connection) {
    const auto peer = Departed::peer_of(connection);
    std::optional<Departed::End> end;
    if (peer.token != 0) end = Departed::End{Departed::Kind::kReset, peer, std::string(reason)};
    if (slot.held_by_user) {
      Event event;
      event.kind = Event::Kind::kClosed;
      event.connection = slot.token;
      event.error = told;
      event.peer = peer.address;
      event.ends_alone = ends_alone;
      report(std::move(event));
    }
    depart(now, slot, std::move(end));
  });
}

void Lifecycle::fail_context(Time now, ContextId context, const Error& error, Slot* cause) {
  std::string_view reason = error.what;  // a RESET is passed on with its original reason
  if (reason.starts_with(kPeerGaveUp)) reason.remove_prefix(kPeerGaveUp.size());
  if (cause != nullptr) fail_slot(now, *cause, error, reason);
  Error told = error;
  if (cause != nullptr) {
    told.what = fmt::format("the communicator failed: {}", error.what);
    told.fault = PeerFault::kNone;  // of the peers of other connections
  }
  slots_.for_each([&](Slot& slot) {
    if (slot.context == context) fail_slot(now, slot, told, reason);
  });
}

void Lifecycle::on_breach(Time now, std::uint64_t token, std::string_view invariant) {
  commons_.placements.clear();
  Slot* slot = slots_.find(token);
  if (slot == nullptr) return;
  const Error error{ErrorCode::kInternal,
                    fmt::format("an invariant of DLCP is broken: {}", invariant),
                    "this is a bug in the plugin: please report it with this line"};
  if (slot->party.is_connection()) return fail_context(now, slot->context, error, slot);
  if (!slot->party.is_association()) return;
  slots_.for_each([&](Slot& stream) {
    if (stream.association == token && stream.party.is_connection())
      fail_context(now, stream.context, error, &stream);
  });
}

}  // namespace dlcp::core
