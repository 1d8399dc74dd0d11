#include "core/endpoint.h"

#include <algorithm>

#include "core/endpoint_state.h"
#include "util/check.h"

namespace dlcp::core {

template <class Call>
auto Endpoint::State::guarded(Time now, std::uint64_t token, Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const BrokenInvariant& breach) {
    on_breach(now, token, breach.what());
    return decltype(call())();
  }
}

Endpoint::Endpoint(const Config& config, const wire::EndpointAddress& local_address,
                   const Secrets& secrets)
    : state_(std::make_unique<State>(config, local_address, secrets)) {}

Endpoint::~Endpoint() = default;

// ---- from above ----

Endpoint::Listening Endpoint::listen(ContextId context, std::uint32_t number) {
  const wire::Invitation invitation = wire::invitation(state_->secrets.listeners, number);
  Slot& slot = state_->add(context, wire::listener_token(invitation));
  Listener listener;
  listener.key = wire::listener_key(invitation, state_->secrets.site);
  listener.key_without_site = wire::listener_key(invitation, {});
  slot.what = std::move(listener);
  return {slot.token, invitation};
}

void Endpoint::close_listener(Time now, ListenerId listener) {
  Slot* slot = state_->find(listener);
  if (slot == nullptr || slot->get<Listener>() == nullptr) return;
  const std::uint64_t token = slot->token;
  for (std::size_t i = 0; i < state_->slots.size(); ++i) {
    Slot& waiting = *state_->slots[i];
    const auto* receiving = waiting.get<RecvPtr>();
    if (receiving == nullptr || waiting.listener != token || waiting.held_by_user) continue;
    const Departed::Peer peer{(*receiving)->peer_token(), (*receiving)->peer_address()};
    state_->depart(
        now, waiting,
        Departed::reset(now, peer, std::string(kListenerClosed), state_->farewell_time()));
  }
  state_->release(*slot);
}

ConnectionId Endpoint::connect(Time now, ContextId context, const wire::Invitation& listener,
                               const wire::EndpointAddress& to) {
  const wire::Key key = wire::listener_key(listener, state_->secrets.site);
  Slot& slot = state_->add(context, state_->draw_token());
  slot.held_by_user = true;
  slot.channel = Channel(key, {key, state_->config.protection}, wire::host_of(to),
                         state_->config.ciphers.get());
  slot.what = std::make_unique<SendConnection>(
      now, state_->config, state_->counters_of[context], state_->local,
      SendConnection::Open{slot.token, {listener, key, to}, state_->rng.next()});
  state_->settle(now, slot);
  return slot.token;
}

void Endpoint::decline(Time now, ContextId context, const wire::Invitation& listener,
                       const wire::EndpointAddress& to, Refusal why) {
  const wire::Key site = why.secrets_differ ? wire::Key{} : state_->secrets.site;
  const wire::Key key = wire::listener_key(listener, site);
  Slot& slot = state_->add(context, state_->draw_token());
  slot.channel = Channel(key, {key}, wire::host_of(to));
  state_->depart(now, slot,
                 Departed::refused(now, {wire::listener_token(listener), to}, std::move(why.reason),
                                   state_->farewell_time()));
}

std::optional<ConnectionId> Endpoint::accept(ListenerId listener) {
  Slot* slot = state_->find(listener);
  if (slot == nullptr || slot->get<Listener>() == nullptr) return std::nullopt;
  auto& acceptable = slot->get<Listener>()->acceptable;
  while (!acceptable.empty()) {
    Slot* connection = state_->find(acceptable.front());
    acceptable.pop_front();
    if (connection == nullptr || connection->get<RecvPtr>() == nullptr) continue;
    connection->held_by_user = true;
    (*connection->get<RecvPtr>())->on_accepted();
    return connection->token;
  }
  return std::nullopt;
}

ConnectionState Endpoint::state(ConnectionId connection) const {
  Slot* slot = state_->find(connection);
  if (slot == nullptr || !slot->held_by_user) return ConnectionState::kClosed;
  if (const auto* sending = slot->get<SendPtr>()) {
    if ((*sending)->open()) return ConnectionState::kOpen;
    return (*sending)->peer_token() != 0 ? ConnectionState::kConnecting : ConnectionState::kCalling;
  }
  return slot->get<RecvPtr>() != nullptr ? ConnectionState::kOpen : ConnectionState::kClosed;
}

bool Endpoint::post_send(Time now, ConnectionId connection, RequestId request,
                         std::span<const std::byte> message, const Licence& licence) {
  Slot* slot = state_->find(connection);
  auto* sending = slot == nullptr ? nullptr : slot->get<SendPtr>();
  if (sending == nullptr || !(*sending)->can_post()) return false;
  return state_->guarded(now, connection, [&] {
    (*sending)->post(now, request, message, licence);
    state_->settle(now, *slot);
    return true;
  });
}

bool Endpoint::post_receive(Time now, ConnectionId connection, RequestId request,
                            std::span<std::byte> buffer, const Licence& licence) {
  state_->clear_placements();
  Slot* slot = state_->find(connection);
  auto* receiving = slot == nullptr ? nullptr : slot->get<RecvPtr>();
  if (receiving == nullptr || !(*receiving)->can_post()) return false;
  (*receiving)->release_copied();
  return state_->guarded(now, connection, [&] {
    (*receiving)->post(now, request, buffer, licence, state_->placements);
    state_->settle(now, *slot);
    return true;
  });
}

bool Endpoint::has_sendable(ConnectionId connection) const {
  Slot* slot = state_->find(connection);
  const auto* sending = slot == nullptr ? nullptr : slot->get<SendPtr>();
  return sending != nullptr && (*sending)->has_next();
}

void Endpoint::close(Time now, ConnectionId connection) {
  Slot* slot = state_->find(connection);
  if (slot == nullptr || !slot->held_by_user) return;
  state_->clear_placements();
  slot->held_by_user = false;
  const Duration keep = state_->farewell_time();
  const auto leave = [&](const auto& ending, std::uint64_t completed) {
    const Departed::Peer peer{ending.peer_token(), ending.peer_address()};
    if (peer.token == 0) {
      state_->depart(now, *slot, std::nullopt);  // never got through to the peer
    } else if (ending.unfinished()) {
      state_->depart(now, *slot, Departed::reset(now, peer, "the connection was aborted", keep));
    } else if (ending.peer_closed()) {
      state_->depart(now, *slot, Departed::confirmed(now, peer, completed, keep));
    } else {
      state_->depart(now, *slot, Departed::closed(now, peer, completed, keep));
    }
  };
  if (const auto* sending = slot->get<SendPtr>()) {
    leave(**sending, (*sending)->acknowledged());
  } else if (const auto* receiving = slot->get<RecvPtr>()) {
    leave(**receiving, (*receiving)->completed());
  } else if (std::holds_alternative<std::monostate>(slot->what)) {
    state_->release(*slot);
  }
}

void Endpoint::fail_context(Time now, ContextId context, const Error& error) {
  state_->fail_context(now, context, error, nullptr);
}

bool Endpoint::has_unconfirmed_closes() const {
  return std::any_of(state_->slots.begin(), state_->slots.end(), [](const auto& slot) {
    const auto* departed = slot->template get<Departed>();
    return departed != nullptr && departed->awaits_confirmation();
  });
}

bool Endpoint::has_resets_to_send() const {
  return std::any_of(state_->slots.begin(), state_->slots.end(), [](const auto& slot) {
    const auto* departed = slot->template get<Departed>();
    return departed != nullptr && departed->has_resets_to_send();
  });
}

// ---- from and to the network ----

void Endpoint::on_packet(Time now, const wire::RxPacket& packet) {
  state_->note_run(now);
  state_->clear_placements();
  try {
    if (!state_->take_data(now, packet)) state_->dispatch(now, packet);
  } catch (const BrokenInvariant& breach) {
    const auto head = wire::decode_head(packet.bytes);
    state_->on_breach(now, head ? head->destination : 0, breach.what());
  }
}

void Endpoint::on_refused(Time now, std::span<const std::byte> frame) {
  const auto head = wire::decode_head(frame);
  if (!head || head->destination == 0) return;
  for (const auto& slot : state_->slots) {
    const auto refuse = [&](auto& connection, std::uint64_t called) {
      if (called != head->destination) return;
      state_->guarded(now, slot->token, [&] {
        connection.on_refused(now);
        state_->settle(now, *slot);
      });
    };
    if (auto* sending = slot->get<SendPtr>()) {
      refuse(**sending, (*sending)->handshake().called());
    } else if (auto* receiving = slot->get<RecvPtr>()) {
      refuse(**receiving, (*receiving)->peer_token());
    }
  }
}

void Endpoint::on_timeout(Time now) {
  auto& timers = state_->timers;
  auto& due = state_->due;  // first all, then each: one that waits for poll_transmit stays due
  state_->note_run(now);
  due.clear();
  for (; !timers.empty() && timers.top().at <= now; timers.pop())
    due.push_back(timers.top());
  for (const SlotTimer& timer : due) {
    Slot& slot = *state_->slots[timer.index];
    if (slot.armed_at != timer.at) continue;  // superseded
    slot.armed_at = kNever;
    if (state_->next_timeout(slot) > now) {
      state_->rearm(slot);
      continue;
    }
    state_->guarded(now, slot.token, [&] { state_->time_out(now, slot); });
  }
}

Time Endpoint::next_timeout() const {
  return state_->timers.empty() ? kNever : state_->timers.top().at;
}

std::size_t Endpoint::poll_transmit(Time now, std::span<wire::TxPacket> out) {
  State& state = *state_;
  state.arena.reset();
  std::size_t count = state.strays.emit(state.arena, out);
  // Each slot that is ready gets one turn; one that fills what is left, or finds it too small, goes
  // to the end of the queue.
  bool full = count == out.size();
  while (!state.ready.empty() && !full) {
    Slot& slot = *state.slots[state.ready.front()];
    state.ready.pop_front();
    slot.in_ready = false;
    if (slot.token == 0) continue;
    count += state.guarded(now, slot.token,
                           [&] { return state.transmit_from(now, slot, out.subspan(count)); });
    full = count == out.size() || state.wants_room(slot);
    if (full && !slot.in_ready) {
      state.ready.push_back(slot.index);
      slot.in_ready = true;
    }
    state.rearm(slot);
  }
  return count;
}

std::span<const Placement> Endpoint::placements() const {
  return state_->placements;
}

std::optional<Event> Endpoint::poll_event() {
  if (state_->events.empty()) return std::nullopt;
  std::optional<Event> event = std::move(state_->events.front());
  state_->events.pop_front();
  return event;
}

std::size_t Endpoint::connection_count() const {
  return static_cast<std::size_t>(
      std::count_if(state_->slots.begin(), state_->slots.end(), [](const auto& slot) {
        return slot->template get<SendPtr>() != nullptr || slot->template get<RecvPtr>() != nullptr;
      }));
}

Counters Endpoint::counters() const {
  Counters sum = state_->counters;
  for (const auto& [context, counters] : state_->counters_of)
    sum.add(counters);
  return sum;
}

Counters Endpoint::counters(ContextId context) const {
  const auto found = state_->counters_of.find(context);
  return found == state_->counters_of.end() ? Counters{} : found->second;
}

std::vector<PathState> Endpoint::path_states() const {
  std::vector<PathState> states;
  for (const auto& slot : state_->slots) {
    const auto* sending = slot->get<SendPtr>();
    if (sending == nullptr) continue;
    for (std::size_t path = 0; path < (*sending)->paths().size(); ++path) {
      PathState& state =
          states.emplace_back((*sending)->paths().state(static_cast<wire::PathIndex>(path)));
      state.connection = slot->token;
      state.context = slot->context;
      state.peer = (*sending)->peer_address();
    }
  }
  return states;
}

void Endpoint::forbid_loss(bool forbidden) {
  state_->config.licence_bytes_min =
      forbidden ? std::numeric_limits<std::size_t>::max() : state_->licence_bytes_min;
}

const Config& Endpoint::config() const {
  return state_->config;
}

}  // namespace dlcp::core
