// The inside of Endpoint: a table of slots (listener, connection, or what a connection left), the
// timers and the queue of those with something to send. endpoint.cc holds what is asked from above
// and the scheduling, endpoint_dispatch.cc what comes from the network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/credit_pool.h"
#include "core/endpoint.h"
#include "core/frame_arena.h"
#include "core/slot.h"
#include "util/ring_queue.h"
#include "util/rng.h"

namespace dlcp::core {

class Endpoint::State {
 public:
  State(const Config& settings, const wire::EndpointAddress& address, std::uint64_t seed)
      : config(settings),
        local(address),
        rng(seed),
        credits(config.receive_capacity_bytes, config.eager_bytes),
        unposted{config.unposted_pool_bytes, 0},
        pause_least(config.peer_timeout / kPausesPerTimeout) {}

  Slot& add(ContextId context);
  Slot* find(std::uint64_t token);
  void release(Slot& slot);

  // After anything happened to a slot: tells completions and failures, sets timer and ready queue.
  void settle(Time now, Slot& slot);
  void fail_context(Time now, ContextId context, const Error& error, Slot* cause);
  void fail_slot(Time now, Slot& slot, const Error& told, std::string_view reason);
  // The connection in `slot` ends; the peer is told `farewell` unless it knows.
  void depart(Time now, Slot& slot, std::optional<Departed> farewell);
  Duration farewell_time() const { return std::min<Duration>(config.peer_timeout, 30s); }

  // We run; notices when we have not, although a timer was due.
  void note_run(Time now) {
    const Time before = std::exchange(ran_at, now);
    if (now - before >= pause_least && !timers.empty()) note_pause(now, before);
  }

  void clear_placements() {
    placements.clear();
    departed_memory.clear();
  }
  bool take_data(Time now, const wire::RxPacket& packet);
  void dispatch(Time now, const wire::RxPacket& packet);
  void rearm(Slot& slot);
  Time next_timeout(const Slot& slot) const;
  std::size_t transmit_from(Time now, Slot& slot, std::span<wire::TxPacket> out);
  static bool wants_room(Slot& slot);

  struct Stray {  // a frame that no slot stands behind
    std::variant<wire::Refuse, wire::CloseAck> frame;
    wire::EndpointAddress to;
    wire::PathIndex path = 0;
  };
  struct Timer {
    Time at;
    std::uint32_t index = 0;
    friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
  };

  Config config;
  const wire::EndpointAddress local;
  Rng rng;
  Counters counters;  // of what belongs to no connection
  std::map<ContextId, Counters> counters_of;
  CreditPool credits;
  UnpostedPool unposted;
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::uint32_t> free_slots;
  std::unordered_map<std::uint64_t, std::uint64_t>
      by_sender_token;  // -> token of our receiving side
  RingQueue<std::uint32_t> ready;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers;
  std::vector<Timer> due;  // of the current on_timeout
  const Duration pause_least;
  Time ran_at{};  // the last packet or time-out
  RingQueue<Event> events;
  RingQueue<Stray> strays;
  std::vector<Stray> strays_out;  // of the last poll_transmit
  std::vector<Placement> placements;
  std::vector<std::vector<std::byte>> departed_memory;  // of early messages; placements point there
  FrameArena arena;
  wire::Ack ack_in;

 private:
  // Later than this share of the peer time-out, a timer is served late because of a pause.
  static constexpr int kPausesPerTimeout = 8;
  void note_pause(Time now, Time ran_before);
  void collect(Time now, Slot& slot);
  void on_hello(Time now, Slot& slot, const wire::RxPacket& packet);
  void on_stray_hello(const wire::Hello& hello, const wire::RxPacket& packet);
  void to_sender(Time now, SendConnection& connection, wire::FrameType type,
                 const wire::RxPacket& packet);
  void to_receiver(Time now, Slot& slot, RecvConnection& connection, wire::FrameType type,
                   const wire::RxPacket& packet);
  void answer_close(std::uint64_t peer_token, const wire::EndpointAddress& to, wire::PathIndex);
};

}  // namespace dlcp::core
