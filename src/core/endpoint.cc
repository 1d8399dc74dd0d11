#include "core/endpoint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/association/association_table.h"
#include "core/channel/frame_writer.h"
#include "core/endpoint/agenda.h"
#include "core/endpoint/commons.h"
#include "core/endpoint/dispatch.h"
#include "core/endpoint/lifecycle.h"
#include "core/endpoint/slot_table.h"
#include "core/liveness/pause_watch.h"
#include "core/setup/admission.h"
#include "util/rng.h"

namespace dlcp::core {

struct Endpoint::Parts {
  Parts(const Config& config, const wire::EndpointAddress& address, const Secrets& secrets)
      : local(address),
        licence_bytes_min(config.licence_bytes_min),
        rng(wire::draw(secrets.own, 0)),
        commons(config, secrets),
        slots(secrets.own),
        pauses(config.peer_timeout) {}

  void note_run(Time now) {
    const Duration pause = pauses.on_run(now, agenda.next());
    if (pause > Duration::zero()) on_pause(now, pause);
  }
  void on_pause(Time now, Duration length);
  // These return nullptr if the connection does not exist or is of the other side.
  SendStream* sender(ConnectionId connection) const {
    const Slot* slot = slots.find(connection);
    return slot == nullptr ? nullptr : slot->party.sender();
  }
  RecvStream* receiver(ConnectionId connection) const {
    const Slot* slot = slots.find(connection);
    return slot == nullptr ? nullptr : slot->party.receiver();
  }
  // nullptr: the association has ended.
  RecvPlacing* placing(std::uint64_t association) const {
    const Slot* slot = slots.find(association);
    const auto* receiving = slot == nullptr ? nullptr : slot->party.recv_association();
    return receiving == nullptr ? nullptr : receiving->placing();
  }

  const wire::EndpointAddress local;
  const std::size_t licence_bytes_min;  // as configured: see forbid_loss
  Rng rng;                              // for choices that need not be secret
  Commons commons;
  SlotTable slots;
  Agenda agenda;
  PauseWatch pauses;
  AssociationTable associations{commons, slots, rng};
  Lifecycle lifecycle{commons, slots, agenda, associations};
  Admission admission{commons, slots, lifecycle, associations};
  Dispatch dispatch{commons, slots, agenda, lifecycle, admission, associations};
  FrameArena arena;
};

void Endpoint::Parts::on_pause(Time now, Duration length) {
  slots.for_each([&](Slot& slot) {
    slot.party.with_connection([&](auto& connection) { connection.on_pause(now, length); });
    if (auto* association = slot.party.send_association()) association->on_pause(now);
  });
}

Endpoint::Endpoint(const Config& config, const wire::EndpointAddress& local_address,
                   const Secrets& secrets)
    : parts_(std::make_unique<Parts>(config, local_address, secrets)) {}

Endpoint::~Endpoint() = default;

// ---- from the caller ----

Listening Endpoint::listen(ContextId context, std::uint32_t number,
                           std::vector<wire::EndpointAddress> lanes) {
  return parts_->admission.listen(context, number, std::move(lanes));
}

void Endpoint::close_listener(Time now, ListenerId listener) {
  parts_->admission.close_listener(now, listener);
}

std::optional<ConnectionId> Endpoint::accept(ListenerId listener) {
  return parts_->admission.accept(listener);
}

ConnectionId Endpoint::connect(Time now, ContextId context, const wire::Invitation& listener,
                               const wire::EndpointAddress& to, const wire::Membership& membership,
                               OnSilence on_silence) {
  Commons& commons = parts_->commons;
  const wire::Key key = wire::listener_key(listener, commons.secrets.site);
  Slot& slot = parts_->slots.add(context);
  slot.held_by_user = true;
  slot.on_silence = on_silence;
  slot.channel = Channel(key, {key, commons.config.protection}, wire::host_of(to),
                         commons.config.ciphers.get());
  wire::Membership of = membership;
  if (of.lanes > 1 && of.bundle == 0) of.bundle = slot.token;
  Counters& counters = commons.counters.of(context);
  SendAssociation& association = parts_->associations.to(to, counters);
  slot.association = association.token();
  slot.party = std::make_unique<SendStream>(
      now, commons.config, counters, parts_->local, slot.token,
      Handshake::Target{listener, key, to, of, &commons.unmarked_peers}, association);
  parts_->lifecycle.begin_streams(now, association);
  parts_->lifecycle.follow_up(now, slot);
  return slot.token;
}

void Endpoint::decline(Time now, ContextId context, const wire::Invitation& listener,
                       const wire::EndpointAddress& to, Refusal why) {
  const wire::Key site = why.secrets_differ ? wire::Key{} : parts_->commons.secrets.site;
  const wire::Key key = wire::listener_key(listener, site);
  Slot& slot = parts_->slots.add(context);
  slot.channel = Channel(key, {key}, wire::host_of(to));
  parts_->lifecycle.depart(
      now, slot,
      Departed::End{
          Departed::Kind::kRefused, {wire::listener_token(listener), to}, std::move(why.reason)});
}

std::vector<wire::EndpointAddress> Endpoint::peer_lanes(ConnectionId connection) const {
  const SendStream* sending = parts_->sender(connection);
  return sending == nullptr ? std::vector<wire::EndpointAddress>{}
                            : sending->handshake().peer_lanes();
}

wire::Membership Endpoint::membership(ConnectionId connection) const {
  const RecvStream* receiving = parts_->receiver(connection);
  return receiving == nullptr ? wire::Membership{} : receiving->membership();
}

ConnectionState Endpoint::state(ConnectionId connection) const {
  const Slot* slot = parts_->slots.find(connection);
  if (slot == nullptr || !slot->held_by_user) return ConnectionState::kClosed;
  if (const auto* sending = slot->party.sender()) {
    if (sending->open()) return ConnectionState::kOpen;
    // A stream that joins an association may be accepted before its sender learns of it.
    const bool is_heard = sending->peer_token() != 0 || sending->handshake().joins();
    return is_heard ? ConnectionState::kConnecting : ConnectionState::kCalling;
  }
  return slot->party.receiver() != nullptr ? ConnectionState::kOpen : ConnectionState::kClosed;
}

bool Endpoint::post_send(Time now, ConnectionId connection, RequestId request,
                         std::span<const std::byte> message, const Licence& licence,
                         MemoryKind kind) {
  SendStream* sending = parts_->sender(connection);
  if (sending == nullptr || !sending->can_post()) return false;
  return parts_->lifecycle.change(now, connection,
                                  [&] { sending->post(now, request, message, licence, kind); });
}

bool Endpoint::post_receive(Time now, ConnectionId connection, RequestId request,
                            std::span<std::byte> buffer, const Licence& licence, MemoryKind kind) {
  PlacementBatch& placements = parts_->commons.placements;
  placements.clear();
  RecvStream* receiving = parts_->receiver(connection);
  if (receiving == nullptr || !receiving->can_post()) return false;
  return parts_->lifecycle.change(
      now, connection, [&] { receiving->post(now, request, buffer, licence, kind, placements); });
}

bool Endpoint::reads_payloads(ConnectionId connection) const {
  const SendStream* sending = parts_->sender(connection);
  return sending != nullptr && sending->reads_payloads();
}

bool Endpoint::peer_has_closed(ConnectionId connection) const {
  const SendStream* sending = parts_->sender(connection);
  return sending != nullptr && sending->peer_closed();
}

bool Endpoint::has_sendable(ConnectionId connection) const {
  const SendStream* sending = parts_->sender(connection);
  return sending != nullptr && sending->has_sendable();
}

bool Endpoint::has_in_flight(ConnectionId connection) const {
  const SendStream* sending = parts_->sender(connection);
  return sending != nullptr && sending->association().has_in_flight();
}

void Endpoint::close(Time now, ConnectionId connection) {
  Slot* slot = parts_->slots.find(connection);
  if (slot != nullptr && slot->held_by_user) parts_->lifecycle.close(now, *slot);
}

void Endpoint::leave(ConnectionId connection) {
  if (Slot* slot = parts_->slots.find(connection)) slot->is_leaving = true;
}

void Endpoint::fail_context(Time now, ContextId context, const Error& error) {
  parts_->lifecycle.fail_context(now, context, error, nullptr);
}

void Endpoint::forbid_loss(bool forbidden) {
  parts_->commons.config.licence_bytes_min =
      forbidden ? std::numeric_limits<std::size_t>::max() : parts_->licence_bytes_min;
}

bool Endpoint::has_unconfirmed_closes() const {
  return parts_->slots.any_of([](const Slot& slot) {
    return slot.party.departed() != nullptr && slot.party.departed()->awaits_confirmation();
  });
}

bool Endpoint::has_resets_to_send() const {
  return parts_->slots.any_of([](const Slot& slot) {
    return slot.party.departed() != nullptr && slot.party.departed()->has_resets_to_send();
  });
}

// ---- from and to the network ----

std::size_t Endpoint::on_packets(Time now, std::span<const wire::RxPacket> packets) {
  parts_->note_run(now);
  parts_->commons.placements.clear();
  try {
    return parts_->dispatch.on_packets(now, packets);
  } catch (const BrokenInvariant& breach) {
    const auto head = wire::decode_head(packets.front().bytes);
    parts_->lifecycle.on_breach(now, head ? head->destination : 0, breach.what());
    return 1;
  }
}

void Endpoint::on_refused(Time now, std::span<const std::byte> frame) {
  const auto head = wire::decode_head(frame);
  if (!head || head->destination == 0) return;
  parts_->slots.for_each([&](Slot& slot) {
    slot.party.with_connection([&](auto& stream) {
      if (stream.called() != head->destination &&
          stream.association().peer_token() != head->destination)
        return;
      parts_->lifecycle.change(now, slot.token, [&] { stream.on_refused(now); });
    });
  });
}

void Endpoint::on_timeout(Time now) {
  parts_->note_run(now);
  Agenda& agenda = parts_->agenda;
  agenda.take_due(now);
  while (const auto place = agenda.pop_due()) {
    Slot& slot = parts_->slots.at(*place);
    if (slot.party.next_timeout() > now) {
      parts_->lifecycle.serve_in_time(slot);
      continue;
    }
    parts_->lifecycle.change(now, slot.token, [&] { slot.party.on_timeout(now); });
    const auto* association = slot.party.send_association();
    if (association != nullptr && association->needs_unmarked())
      parts_->lifecycle.unmark(association->peer_address());
  }
}

void Endpoint::on_placed(Time now, const PlacementName& name) {
  PlacementBatch& placements = parts_->commons.placements;
  placements.clear();
  RecvStream* receiving = parts_->receiver(name.connection);
  if (receiving == nullptr) return;
  parts_->lifecycle.change(now, name.connection,
                           [&] { receiving->on_placed(now, name.message, placements.wanted); });
}

void Endpoint::on_placed_run(Time now, const wire::PlacedRun& run) {
  parts_->note_run(now);
  PlacementBatch& placements = parts_->commons.placements;
  placements.clear();
  const RecvPlacing* placing = parts_->placing(parts_->commons.links.of_link(run.link));
  const auto* use = placing == nullptr ? nullptr : placing->find(run.name);
  if (use == nullptr) return parts_->commons.counters.add(Counter::kDroppedOutOfWindow);
  RecvStream& stream = *use->stream;
  parts_->lifecycle.change(now, stream.token(),
                           [&] { stream.on_placed_run(now, run, *use, placements.wanted); });
}

void Endpoint::on_permission(Time now, const PermissionEvent& event) {
  PlacementBatch& placements = parts_->commons.placements;
  placements.clear();
  const std::uint64_t association = parts_->commons.links.of_permission(event.id);
  RecvPlacing* placing = parts_->placing(association);
  if (placing == nullptr) return;
  const auto outcome =
      parts_->lifecycle.guarded(now, association, [&] { return placing->on_event(event); });
  parts_->lifecycle.serve_association(association);  // it may send PERMITS
  if (!outcome || outcome->use.stream == nullptr) return;
  RecvStream& stream = *outcome->use.stream;
  parts_->lifecycle.change(now, stream.token(),
                           [&] { stream.on_permit(now, *outcome, placements.wanted); });
}

Time Endpoint::next_timeout() const {
  return parts_->agenda.next();
}

std::size_t Endpoint::poll_transmit(Time now, std::span<wire::TxPacket> out) {
  Parts& parts = *parts_;
  parts.arena.reset();
  std::size_t count = parts.commons.strays.emit(parts.arena, out);
  // Every place that has a turn takes it. A place that fills `out`, or finds the rest of it too
  // small, gets another turn after the others.
  while (count < out.size()) {
    const auto place = parts.agenda.pop_turn();
    if (!place) break;
    Slot& slot = parts.slots.at(*place);
    if (slot.token == 0) continue;
    const std::size_t sent = parts.lifecycle.guarded(now, slot.token, [&] {
      Channel* channel = slot.party.channel();
      FrameWriter frames(parts.arena, channel != nullptr ? *channel : slot.channel);
      return slot.party.poll_transmit(now, frames, out.subspan(count), out.size());
    });
    count += sent;
    if (sent > 0) parts.lifecycle.on_sent(now, slot);
    const bool full = count == out.size() || slot.party.wants_room();
    if (full) parts.agenda.want_turn(slot.index, turn_of(slot));
    parts.lifecycle.serve_in_time(slot);
    if (full) break;
  }
  parts.agenda.end_call();
  parts.commons.unmarked_peers.apply(out.first(count));
  return count;
}

std::span<const Placement> Endpoint::placements() const {
  return parts_->commons.placements.wanted;
}

std::optional<Event> Endpoint::poll_event() {
  return parts_->lifecycle.poll_event();
}

// ---- queries ----

std::size_t Endpoint::connection_count() const {
  std::size_t count = 0;
  parts_->slots.for_each([&](const Slot& slot) { count += slot.party.is_connection() ? 1 : 0; });
  return count;
}

Counters Endpoint::counters() const {
  return parts_->commons.counters.total();
}

Counters Endpoint::counters(ContextId context) const {
  return parts_->commons.counters.read(context);
}

std::vector<PathState> Endpoint::path_states() const {
  std::vector<PathState> states;
  parts_->slots.for_each([&](const Slot& slot) {
    auto* association = slot.party.send_association();
    if (association == nullptr || association->empty()) return;
    for (std::size_t path = 0; path < association->paths().size(); ++path) {
      PathState& state =
          states.emplace_back(association->paths().state(static_cast<wire::PathIndex>(path)));
      state.association = slot.token;
      state.peer = association->peer_address();
    }
  });
  return states;
}

const Config& Endpoint::config() const {
  return parts_->commons.config;
}

}  // namespace dlcp::core
