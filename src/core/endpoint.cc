#include "core/endpoint.h"

#include <algorithm>

#include "core/endpoint_state.h"

namespace dlcp::core {

Endpoint::Endpoint(const Config& config, const wire::EndpointAddress& local_address,
                   std::uint64_t seed)
    : state_(std::make_unique<State>(config, local_address, seed)) {}

Endpoint::~Endpoint() = default;

// ---- from above
// ------------------------------------------------------------------------------------

Endpoint::Listening Endpoint::listen(ContextId context) {
  Slot& slot = state_->add(context);
  slot.what = Listener{};
  return {slot.token, slot.token};
}

void Endpoint::close_listener(Time now, ListenerId listener) {
  Slot* slot = state_->find(listener);
  if (slot == nullptr || slot->get<Listener>() == nullptr) return;
  // Connections that nobody accepted end with it.
  auto& acceptable = slot->get<Listener>()->acceptable;
  for (; !acceptable.empty(); acceptable.pop_front()) {
    Slot* waiting = state_->find(acceptable.front());
    if (waiting == nullptr || waiting->get<RecvPtr>() == nullptr) continue;
    const RecvConnection& connection = **waiting->get<RecvPtr>();
    const Departed::Peer peer{connection.peer_token(), connection.peer_address()};
    state_->depart(now, *waiting,
                   Departed::reset(now, peer, "the listener was closed", state_->farewell_time()));
  }
  state_->release(*slot);
}

ConnectionId Endpoint::connect(Time now, ContextId context, std::uint64_t listener_token,
                               const wire::EndpointAddress& to) {
  Slot& slot = state_->add(context);
  slot.held_by_user = true;
  slot.what = std::make_unique<SendConnection>(
      now, state_->config, state_->counters_of[context], state_->local,
      SendConnection::Open{slot.token, listener_token, to, state_->rng.next()});
  state_->settle(now, slot);
  return slot.token;
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
    return connection->token;
  }
  return std::nullopt;
}

ConnectionState Endpoint::state(ConnectionId connection) const {
  Slot* slot = state_->find(connection);
  if (slot == nullptr || !slot->held_by_user) return ConnectionState::kClosed;
  if (const auto* sending = slot->get<SendPtr>()) {
    return (*sending)->open() ? ConnectionState::kOpen : ConnectionState::kConnecting;
  }
  return slot->get<RecvPtr>() != nullptr ? ConnectionState::kOpen : ConnectionState::kClosed;
}

bool Endpoint::post_send(Time now, ConnectionId connection, RequestId request,
                         std::span<const std::byte> message, const Licence& licence) {
  Slot* slot = state_->find(connection);
  auto* sending = slot == nullptr ? nullptr : slot->get<SendPtr>();
  if (sending == nullptr || !(*sending)->can_post()) return false;
  (*sending)->post(now, request, message, licence);
  state_->settle(now, *slot);
  return true;
}

bool Endpoint::post_receive(Time now, ConnectionId connection, RequestId request,
                            std::span<std::byte> buffer, const Licence& licence) {
  state_->clear_placements();
  Slot* slot = state_->find(connection);
  auto* receiving = slot == nullptr ? nullptr : slot->get<RecvPtr>();
  if (receiving == nullptr || !(*receiving)->can_post()) return false;
  (*receiving)->release_copied();
  (*receiving)->post(now, request, buffer, licence, state_->placements);
  state_->settle(now, *slot);
  return true;
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

// ---- from and to the network
// -------------------------------------------------------------------------

void Endpoint::on_packet(Time now, const wire::RxPacket& packet) {
  state_->note_run(now);
  state_->clear_placements();
  if (!state_->take_data(now, packet)) state_->dispatch(now, packet);
}

void Endpoint::on_timeout(Time now) {
  auto& timers = state_->timers;
  auto& due = state_->due;  // first all, then each: one that waits for poll_transmit stays due
  state_->note_run(now);
  due.clear();
  for (; !timers.empty() && timers.top().at <= now; timers.pop())
    due.push_back(timers.top());
  for (const State::Timer& timer : due) {
    Slot& slot = *state_->slots[timer.index];
    if (slot.token == 0 || slot.armed_at != timer.at) continue;  // superseded
    slot.armed_at = kNever;
    if (state_->next_timeout(slot) > now) {
      state_->rearm(slot);
      continue;
    }
    if (auto* sending = slot.get<SendPtr>()) {
      (*sending)->on_timeout(now);
    } else if (auto* receiving = slot.get<RecvPtr>()) {
      (*receiving)->on_timeout(now);
    } else if (auto* departed = slot.get<Departed>()) {
      departed->on_timeout(now);
    }
    state_->settle(now, slot);
  }
}

Time Endpoint::next_timeout() const {
  return state_->timers.empty() ? kNever : state_->timers.top().at;
}

std::size_t Endpoint::poll_transmit(Time now, std::span<wire::TxPacket> out) {
  State& state = *state_;
  state.arena.reset();
  state.strays_out.clear();
  std::size_t count = 0;
  while (!state.strays.empty() && state.strays_out.size() < out.size()) {
    state.strays_out.push_back(state.strays.front());
    state.strays.pop_front();
  }
  for (const State::Stray& stray : state.strays_out) {
    std::visit(
        [&](const auto& frame) { state.arena.emit(frame, stray.path, stray.to, out[count++]); },
        stray.frame);
  }
  // Each slot that is ready gets one turn; one that fills what is left, or finds it too small, goes
  // to the end of the queue.
  bool full = count == out.size();
  while (!state.ready.empty() && !full) {
    Slot& slot = *state.slots[state.ready.front()];
    state.ready.pop_front();
    slot.in_ready = false;
    if (slot.token == 0) continue;
    count += state.transmit_from(now, slot, out.subspan(count));
    full = count == out.size() || state.wants_room(slot);
    if (full) {
      state.ready.push_back(static_cast<std::uint32_t>(slot.token));
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

void Endpoint::forbid_loss() {
  state_->config.licence_bytes_min = std::numeric_limits<std::size_t>::max();
}

const Config& Endpoint::config() const {
  return state_->config;
}

}  // namespace dlcp::core
