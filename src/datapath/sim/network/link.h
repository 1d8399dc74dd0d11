// One direction of a cable: accepts one frame at a time, serialises it at the link's rate, and
// delivers it to the far end after the propagation delay, unless a seeded fault applies. Queues
// belong to the port (port.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/frame.h"
#include "util/rng.h"
#include "util/time.h"

namespace dlcp::datapath::sim {

using BitsPerSecond = std::uint64_t;

struct LinkConfig {
  BitsPerSecond rate = 10'000'000'000;
  Duration delay = 1us;
  std::size_t mtu = 9000;  // IP bytes; larger packets vanish, as with a misconfigured switch
};

// Probabilities are per frame, from 0 to 1.
struct LinkFaults {
  double drop = 0;  // share of frames that are lost,
  std::uint32_t drop_run =
      1;  // in runs of this length if frames use half the link's rate; at least 1
  double duplicate = 0;
  double corrupt = 0;  // flips one to three bits within the first corrupt_within bytes
  std::size_t corrupt_within = std::numeric_limits<std::size_t>::max();
  double reorder = 0;  // share delayed by up to reorder_delay, so that later frames overtake
  Duration reorder_delay = 100us;
  // If bit c is set, flows of hash class c (flow_hash with blackhole_seed, modulo 64) are lost.
  std::uint64_t blackhole_classes = 0;
  std::uint64_t blackhole_seed = 0;
  bool (*drops)(const Frame& frame) = nullptr;  // the policy of a firewall or router; null: none
};

struct LinkCounters {
  std::uint64_t frames = 0;      // serialised, including frames that were lost afterwards
  std::uint64_t bytes = 0;       // of those frames, on the wire
  std::uint64_t lost = 0;        // random loss
  std::uint64_t blackholed = 0;  // or dropped by policy
  std::uint64_t oversize = 0;
  std::uint64_t while_down = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t reordered = 0;
};

class Link {
 public:
  Link(EventQueue& events, EventSink& far_end, const LinkConfig& config, std::uint64_t seed)
      : events_(events), far_end_(far_end), config_(config), rng_(seed) {}

  const LinkConfig& config() const { return config_; }
  const LinkCounters& counters() const { return counters_; }
  void set_config(const LinkConfig& config) { config_ = config; }
  void set_faults(const LinkFaults& faults) { faults_ = faults; }
  // Frames sent within [from, until) are lost.
  void add_outage(Time from, Time until) { outages_.emplace_back(from, until); }

  // The time that the frame occupies the wire.
  Duration serialisation(const Frame& frame) const;
  // Transmission starts now. The caller sends no other frame before serialisation() has passed.
  void send(Time now, FramePtr frame);

 private:
  bool swallowed(Time now, const Frame& frame);
  void corrupt(Frame& frame);
  Duration jitter();

  EventQueue& events_;
  EventSink& far_end_;
  LinkConfig config_;
  LinkFaults faults_;
  LinkCounters counters_;
  std::vector<std::pair<Time, Time>> outages_;
  std::uint32_t run_left_ = 0;  // frames of the current run of losses that will still be lost,
  Time run_ends_{};             // before this time
  Rng rng_;
};

}  // namespace dlcp::datapath::sim
