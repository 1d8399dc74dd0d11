// One bottleneck that several flows share, with the faults of real paths, in simulated time;
// congestion control is evaluated on it. Flows are transports of any kind (flow.h). Forward, frames
// wait in one FIFO; the return path of acknowledgements has delay and jitter but no queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "util/rng.h"
#include "util/time.h"

namespace dlcp::test {

enum class JitterShape : std::uint8_t {
  kUniform,  // independent for each packet, 0..jitter: packets overtake each other
  kInOrder,  // the same, but a packet waits for those before it
  kHeavy,    // Pareto with shape 1.5 and a mean of half the jitter
  kBursts,   // alternately on and off for all packets (steps of a few round trips)
};

struct PathConfig {
  double rate = 10e9;     // bits per second
  Duration base = 200us;  // round trip of the empty path
  Duration jitter{0};     // per round trip, half each way
  JitterShape shape = JitterShape::kUniform;
  double loss = 0;               // share of data packets that are lost
  std::size_t buffer = 1 << 20;  // bytes
  std::size_t ecn_above = 0;     // bytes in the queue above which packets are marked; 0: never
  std::size_t policer_burst =
      0;               // bytes; 0: no policer. Else no queue: packets above the rate are dropped
  Duration spread{0};  // extra one-way delay: path p of n has p / n of it
  double back_share = 0.5;  // share of the base delay on the return path
  // From this time the path has another base delay or rate.
  Time changes_at = kNever;
  Duration base_then{0};
  double rate_then = 0;
  std::uint64_t seed = 1;
};

class PathFlow;

struct PathFrame {
  PathFlow* flow = nullptr;
  bool forward = true;
  std::uint8_t path = 0;
  bool marked = false;
  bool data = false;
  bool placed = false;  // `head` is what the receiver's card needs to place the packet
  std::uint32_t bytes =
      0;  // size of the datagram; `head` may hold fewer bytes, the rest is never read
  std::uint64_t number = 0;  // the flow's own numbering
  Time sent_at;
  std::vector<std::byte> head;
};

class SharedPath {
 public:
  explicit SharedPath(const PathConfig& config) : config_(config), rng_(config.seed) {}
  SharedPath(const SharedPath&) = delete;
  ~SharedPath();

  const PathConfig& config() const { return config_; }
  Time now() const { return now_; }
  Rng& rng() { return rng_; }
  double rate() const {
    return now_ >= config_.changes_at && config_.rate_then > 0 ? config_.rate_then : config_.rate;
  }
  Duration base() const {
    return now_ >= config_.changes_at && config_.base_then > Duration::zero() ? config_.base_then
                                                                              : config_.base;
  }

  // A recycled frame.
  std::unique_ptr<PathFrame> take();
  // Passes the frame to the path at `at`, when the sender's NIC has sent it.
  void send(Time at, std::unique_ptr<PathFrame> frame);
  // The flow's on_timer runs at `at`.
  void call(Time at, PathFlow& flow);
  void run_until(Time until);

  // Totals of the queue since reset().
  struct Totals {
    double delay_sum = 0;  // seconds in the queue, summed over frames
    double delay_max = 0;
    std::uint64_t frames = 0;
    std::uint64_t dropped = 0;  // because the queue was full
    double mean() const { return frames == 0 ? 0 : delay_sum / static_cast<double>(frames); }
  };
  const Totals& totals() const { return totals_; }
  void reset() { totals_ = {}; }

 private:
  struct Event {
    Time at;
    std::uint64_t order;
    enum class Kind : std::uint8_t { kEnter, kDeliver, kTimer } kind;
    PathFrame* frame;
    PathFlow* flow;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void enter(std::unique_ptr<PathFrame> frame);
  void deliver_after(Time from, std::unique_ptr<PathFrame> frame);
  Duration jitter();
  void recycle(std::unique_ptr<PathFrame> frame);
  void push(Time at, Event::Kind kind, PathFrame* frame, PathFlow* flow);

  PathConfig config_;
  Rng rng_;
  Time now_{};
  Time idle_at_{};     // when the queue will be empty
  Time last_there_{};  // latest delivery time so far, for kInOrder
  Time last_back_{};
  Time episode_ends_{};  // kBursts
  bool episode_ = false;
  double tokens_ = 0;  // the policer's, in bytes
  Time tokens_at_{};
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::vector<std::unique_ptr<PathFrame>> spare_;
  Totals totals_;
};

}  // namespace dlcp::test
