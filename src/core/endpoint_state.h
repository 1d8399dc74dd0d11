// The inside of Endpoint: a table of slots (listener, connection, or what a connection left), the
// timers, and the queue of those with something to send. endpoint.cc: what is asked from above, and
// the scheduling; endpoint_dispatch.cc: what comes from the network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/credit_pool.h"
#include "core/endpoint.h"
#include "core/frame_arena.h"
#include "core/slot.h"
#include "core/strays.h"
#include "core/token_table.h"
#include "util/ring_queue.h"
#include "util/rng.h"

namespace dlcp::core {

// What the sender of a connection that nobody has accepted is told.
inline constexpr std::string_view kListenerClosed = "the listener was closed";

class Endpoint::State {
 public:
  State(const Config& settings, const wire::EndpointAddress& address, const Secrets& known)
      : config(settings),
        local(address),
        secrets(known),
        rng(wire::draw(known.own, 0)),
        credits(config.receive_capacity_bytes, config.eager_bytes),
        unposted{config.unposted_pool_bytes, 0},
        pause_least(config.peer_timeout / kPausesPerTimeout) {}

  // `token`: neither 0 nor in use.
  Slot& add(ContextId context, std::uint64_t token);
  std::uint64_t draw_token();
  Slot* find(std::uint64_t token);
  void release(Slot& slot);

  // After anything happened to a slot: tells completions and failures, sets timer and ready queue.
  void settle(Time now, Slot& slot);
  void fail_context(Time now, ContextId context, const Error& error, Slot* cause);
  void fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason);
  // The connection in `slot` ends; the peer is told `farewell` unless it knows.
  void depart(Time now, Slot& slot, std::optional<Departed> farewell);
  // Runs `call`, work on this token's connection; a breach of an invariant ends it and gives 0.
  template <class Call>
  auto guarded(Time now, std::uint64_t token, Call&& call) -> decltype(call());
  void on_breach(Time now, std::uint64_t token, std::string_view invariant);
  Duration farewell_time() const { return std::min<Duration>(config.peer_timeout, 30s); }

  void note_run(Time now);  // notices when we have not run although a timer was due

  void clear_placements() {
    placements.clear();
    departed_memory.clear();
  }
  bool take_data(Time now, const wire::RxPacket& packet);
  void dispatch(Time now, const wire::RxPacket& packet);
  void rearm(Slot& slot);
  Time next_timeout(const Slot& slot) const;
  void time_out(Time now, Slot& slot);
  std::size_t transmit_from(Time now, Slot& slot, std::span<wire::TxPacket> out);
  static bool wants_room(Slot& slot);

  Config config;
  // As configured: forbid_loss puts another in its place for a while.
  const std::size_t licence_bytes_min = config.licence_bytes_min;
  const wire::EndpointAddress local;
  const Secrets secrets;
  Rng rng;  // for choices that may be known
  std::uint64_t tokens_drawn = 0;
  Counters counters;  // of what belongs to no connection
  std::map<ContextId, Counters> counters_of;
  CreditPool credits;
  UnpostedPool unposted;
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::uint32_t> free_slots;
  TokenTable by_token;
  std::unordered_map<SenderName, std::uint64_t, SenderName::Hash> by_sender;  // -> our token
  RingQueue<std::uint32_t> ready;
  std::priority_queue<SlotTimer, std::vector<SlotTimer>, std::greater<>> timers;
  std::vector<SlotTimer> due;  // of the current on_timeout
  const Duration pause_least;
  Time ran_at{};  // the last packet or time-out
  RingQueue<Event> events;
  Strays strays;
  std::vector<Placement> placements;
  std::vector<std::vector<std::byte>> departed_memory;  // of early messages; placements point there
  FrameArena arena;
  wire::Ack ack_in;

 private:
  // Later than this share of the peer time-out, a timer is served late because of a pause.
  static constexpr int kPausesPerTimeout = 8;
  void note_pause(Time now, Time ran_before);
  void collect(Time now, Slot& slot);
  void on_hello(Time now, Slot* listener, const wire::RxPacket& packet);
  void on_declined(Slot& listener, const wire::RxPacket& packet);
  void refuse(const wire::Hello& hello, wire::Refuse with, const wire::Key& key, wire::PathIndex);
  Slot& open_half(Time now, Slot& listener, const wire::Hello& hello);
  void on_welcome(Time now, Slot& slot, SendConnection& connection, const wire::RxPacket& packet);
  void to_departed(Time now, Slot& slot, const wire::FrameHead& head, const wire::RxPacket& packet);
  // The two return false for a frame that is not well formed.
  bool to_sender(Time now, Slot& slot, SendConnection& connection, wire::FrameType type,
                 const wire::RxPacket& packet);
  bool to_receiver(Time now, Slot& slot, RecvConnection& connection, wire::FrameType type,
                   const wire::RxPacket& packet);
  void answer_close(Slot& slot, std::uint64_t peer_token, const wire::EndpointAddress& to,
                    wire::PathIndex path);
};

}  // namespace dlcp::core
