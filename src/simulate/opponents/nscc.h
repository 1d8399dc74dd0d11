// Ultra Ethernet's sender-based congestion control (NSCC, Ultra Ethernet specification 1.0, section
// 3.6.13) with packet spraying and trimming. Two signals change a window of at most 1.5
// bandwidth-delay products: the packet's mark and its queueing delay. Neither: grow in proportion
// to the difference between the delay and its target. Only delay: grow a little, as the queue is
// draining. Both: shrink in proportion to the mean delay's excess over the target. After a trimmed
// packet or a very long delay the window falls at once to the bytes delivered in the last round
// (quick adaptation).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/opponents/flows/window_transport.h"
#include "util/rng.h"

namespace dlcp::simulate {

// How a packet's entropy is chosen.
enum class Spraying : std::uint8_t {
  kOblivious,  // all in turn
  kBitmap,     // all in turn; a path is skipped once after a mark, and several times after a loss
  kRecycled,   // REPS: entropies of unmarked packets are used again first
};

struct NsccConfig {
  WindowConfig window;
  Spraying spraying = Spraying::kBitmap;
  Duration base_rtt{0};        // of the longest path through the fabric, with a full packet
  double target_share = 0.75;  // target queueing delay, as a share of the base RTT
};

class NsccTransport final : public WindowTransport {
 public:
  NsccTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                const NsccConfig& config);

  // Marks between 0.2 and 0.8 of a bandwidth-delay product, trims above 1.
  static ClassPlan switches(const NsccConfig& config, double gbit_per_s);
  static WindowConfig defaults(Duration base_rtt);

 protected:
  void on_open(std::uint32_t flow) override;
  void on_answer(Time now, std::uint32_t flow, const Answer& answer) override;
  void on_trimmed(Time now, std::uint32_t flow, std::uint32_t sequence) override;
  void on_timeout(Time now, std::uint32_t flow) override;
  void on_silence(std::uint32_t flow, std::uint16_t path) override;
  std::uint16_t choose_path(std::uint32_t flow, std::uint32_t sequence) override;

 private:
  struct State {
    double window = 0;      // bytes
    double mean_delay = 0;  // ns
    double increase = 0;    // bytes squared, until the next adjustment
    double received = 0;    // bytes since the last adjustment,
    Time adjusted_at{};     // time of the last adjustment
    Time decreased_at{};
    double calm = 0;  // consecutive bytes without queueing delay
    bool fast = false;
    bool trimmed = false;  // in the period of quick adaptation
    double achieved = 0;   // bytes delivered in it
    Time adapts_at{};
    double ignored = 0;  // bytes sent before an adaptation that are still to arrive
    std::uint16_t path = 0;
    std::vector<std::uint8_t> skip;  // by path: how many times to skip it
    std::deque<std::uint16_t> good;  // entropies to use again
  };

  bool adapted(Time now, std::uint32_t flow, double delay, double bytes, bool arrived);
  void steer(Time now, State& state, double bytes, double delay, bool marked);
  void grow_fast(State& state, double bytes, double delay);
  void adjust(Time now, State& state);
  void learn_path(State& state, const Answer& answer) const;
  void store(std::uint32_t flow, State& state);

  const NsccConfig nscc_;
  const double packet_;      // bytes
  const double base_;        // ns
  const double target_;      // ns
  const double window_max_;  // bytes
  const double scale_;       // relative to a network of 100 Gbit/s and 12 us
  std::vector<State> states_;
  Rng rng_;
};

}  // namespace dlcp::simulate
