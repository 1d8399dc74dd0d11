#include "core/endpoint_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::core {

// Of 2^64 nobody guesses one, and two connections hardly ever get the same.
std::uint64_t Endpoint::State::draw_token() {
  for (;;) {
    const std::uint64_t token = wire::draw(secrets.own, ++tokens_drawn);
    if (token != 0 && !by_token.find(token)) return token;
  }
}

Slot& Endpoint::State::add(ContextId context, std::uint64_t token) {
  if (free_slots.empty()) {
    free_slots.push_back(static_cast<std::uint32_t>(slots.size()));
    slots.push_back(std::make_unique<Slot>());
  }
  const std::uint32_t index = free_slots.back();
  free_slots.pop_back();
  Slot& slot = *slots[index];
  slot.token = token;
  slot.index = index;
  by_token.insert(token, index);
  slot.context = context;
  return slot;
}

Slot* Endpoint::State::find(std::uint64_t token) {
  const auto index = by_token.find(token);
  return index ? slots[*index].get() : nullptr;
}

void Endpoint::State::release(Slot& slot) {
  const std::uint32_t index = slot.index;
  const bool in_ready = slot.in_ready;
  const Time armed_at = slot.armed_at;
  by_token.erase(slot.token);
  slot = Slot{};
  // The queue and the timers still name this index. Whoever gets it next is served by the timer
  // that is there: else each of a flood of short lives would leave an entry of its own.
  slot.in_ready = in_ready;
  slot.armed_at = armed_at;
  free_slots.push_back(index);
}

Time Endpoint::State::next_timeout(const Slot& slot) const {
  if (const auto* sending = std::get_if<SendPtr>(&slot.what)) return (*sending)->next_timeout();
  if (const auto* receiving = std::get_if<RecvPtr>(&slot.what)) return (*receiving)->next_timeout();
  if (const auto* departed = std::get_if<Departed>(&slot.what)) return departed->next_timeout();
  return kNever;
}

void Endpoint::State::rearm(Slot& slot) {
  const Time at = next_timeout(slot);
  if (at >= slot.armed_at) return;  // the earlier entry will find the later time
  slot.armed_at = at;
  timers.push({at, slot.index});
}

void Endpoint::State::time_out(Time now, Slot& slot) {
  if (auto* sending = slot.get<SendPtr>()) (*sending)->on_timeout(now);
  if (auto* receiving = slot.get<RecvPtr>()) (*receiving)->on_timeout(now);
  if (auto* departed = slot.get<Departed>()) departed->on_timeout(now);
  settle(now, slot);
}

std::size_t Endpoint::State::transmit_from(Time now, Slot& slot, std::span<wire::TxPacket> out) {
  FrameWriter frames(arena, slot.channel);
  if (auto* sending = slot.get<SendPtr>()) return (*sending)->poll_transmit(now, frames, out);
  if (auto* receiving = slot.get<RecvPtr>()) return (*receiving)->poll_transmit(now, frames, out);
  if (auto* departed = slot.get<Departed>()) {
    return departed->poll_transmit(now, frames, config.paths, out);
  }
  return 0;
}

bool Endpoint::State::wants_room(Slot& slot) {
  auto* sending = slot.get<SendPtr>();
  return sending != nullptr && (*sending)->wants_room();
}

void Endpoint::State::note_run(Time now) {
  const Time before = std::exchange(ran_at, now);
  if (now - before >= pause_least && !timers.empty()) note_pause(now, before);
}

// A timer is served much too late: whoever drives us was stopped, or suspended with its host. The
// peers may have been frozen with us, and their silence of that time says nothing.
void Endpoint::State::note_pause(Time now, Time ran_before) {
  const Duration late = now - std::max(timers.top().at, ran_before);
  if (late < pause_least) return;
  for (const auto& slot : slots) {
    if (auto* sending = slot->get<SendPtr>()) (*sending)->on_pause(now, late);
    if (auto* receiving = slot->get<RecvPtr>()) (*receiving)->on_pause(now, late);
  }
}

void Endpoint::State::on_breach(Time now, std::uint64_t token, std::string_view invariant) {
  clear_placements();
  Slot* slot = find(token);
  if (slot == nullptr || (slot->get<SendPtr>() == nullptr && slot->get<RecvPtr>() == nullptr))
    return;
  const Error error{ErrorCode::kInternal,
                    fmt::format("an invariant of DLCP is broken: {}", invariant),
                    "this is a mistake in the plugin: please report it with this line"};
  fail_context(now, slot->context, error, slot);
}

void Endpoint::State::collect(Time now, Slot& slot) {
  const auto tell = [&](Event::Kind kind, RequestId request, std::size_t bytes) -> Event& {
    Event& event = events.push_back({});
    event.kind = kind;
    event.connection = slot.token;
    event.request = request;
    event.bytes = bytes;
    return event;
  };
  const auto give_up = [&](const auto& connection) {
    if (!connection.failed()) return;
    const Error error = *connection.error();
    fail_context(now, slot.context, error, &slot);
  };
  if (auto* sending = slot.get<SendPtr>()) {
    while (const auto done = (*sending)->pop_done()) {
      Event& event = tell(Event::Kind::kSendDone, done->request, done->memory.size());
      event.memory = done->memory;
    }
    give_up(**sending);
  } else if (auto* receiving = slot.get<RecvPtr>()) {
    if ((*receiving)->failed() && !slot.held_by_user) {
      // Nobody above has heard of it yet: it goes quietly.
      depart(now, slot, std::nullopt);
      return;
    }
    while (const auto done = (*receiving)->pop_done()) {
      tell(Event::Kind::kReceiveDone, done->request, done->bytes).lost = done->lost;
    }
    give_up(**receiving);
  }
}

void Endpoint::State::settle(Time now, Slot& slot) {
  collect(now, slot);
  if (slot.token == 0) return;
  if (auto* departed = slot.get<Departed>(); departed != nullptr && departed->expired(now)) {
    slot.what = std::monostate{};
    if (!slot.held_by_user) release(slot);
    return;
  }
  if (slot.in_ready) return;  // poll_transmit() will look at it, and at its time-out
  slot.in_ready = true;
  ready.push_back(slot.index);
  rearm(slot);
}

void Endpoint::State::depart(Time now, Slot& slot, std::optional<Departed> farewell) {
  if (const auto* receiving = slot.get<RecvPtr>()) {
    for (auto& memory : (*receiving)->take_copied())
      departed_memory.push_back(std::move(memory));
    by_sender.erase({(*receiving)->peer_token(), (*receiving)->peer_address()});
  }
  if (farewell) {
    slot.what = std::move(*farewell);
    settle(now, slot);
  } else {
    slot.what = std::monostate{};
    if (!slot.held_by_user) release(slot);
  }
}

// Ends the connection in `slot`, if there is one: the user above is told `told`, the peer `reason`.
void Endpoint::State::fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason) {
  std::optional<Departed> farewell;
  Event event;
  event.kind = Event::Kind::kClosed;
  event.connection = slot.token;
  event.error = told;
  const auto part = [&](const auto& connection) {
    event.peer = connection.peer_address();
    const Departed::Peer peer{connection.peer_token(), event.peer};
    if (peer.token != 0) {
      farewell = Departed::reset(now, peer, std::string(reason), farewell_time());
    }
  };
  if (const auto* sending = slot.get<SendPtr>()) {
    part(**sending);
  } else if (const auto* receiving = slot.get<RecvPtr>()) {
    part(**receiving);
  } else {
    return;
  }
  if (slot.held_by_user) events.push_back(std::move(event));
  depart(now, slot, std::move(farewell));
}

// One connection's end is the end of all in its context: ranks that are not neighbours of the
// failed one learn of it through theirs. `cause` is the slot whose connection failed by itself, if
// any; its event comes first.
void Endpoint::State::fail_context(Time now, ContextId context, const Error& error, Slot* cause) {
  std::string_view reason = error.what;  // of a RESET that is passed on, the original reason
  if (reason.starts_with(kPeerGaveUp)) reason.remove_prefix(kPeerGaveUp.size());
  if (cause != nullptr) fail_slot(now, *cause, error, reason);
  Error told = error;
  if (cause != nullptr) told.what = fmt::format("the communicator failed: {}", error.what);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = *slots[i];
    if (slot.token != 0 && slot.context == context) fail_slot(now, slot, told, reason);
  }
}

}  // namespace dlcp::core
