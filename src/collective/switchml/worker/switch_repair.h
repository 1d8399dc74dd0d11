// Decides which packet a worker sends again, and when. A single switch answers, and packets stay in
// order in both directions. An answer to a later packet therefore indicates a loss, as in TCP
// (RACK, RFC 8985): detection takes one round trip and no timeout. Only if no answers arrive at
// all, as after a lost tail, is the oldest packet sent again after a timeout. One packet is enough,
// because its answer reveals the other losses.
//
// The timeout is derived from measured silence: the time from a transmission, or from the last
// answer if that came later, to the next answer. The queue of a burst is not part of it, because
// answers arrive during that time. Such answers come so evenly that they predict little about the
// next one, so the timeout of a packet that has waited long is increased by a share of that wait.
//
// Time is an argument. A slot holds one packet at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "util/time.h"

namespace dlcp::collective {

class SwitchRepair {
 public:
  // Upper bound of the timeout after the first repeats, unless the measured silence is longer.
  static constexpr Duration kLongestBackOff = 4ms;

  // `guess` is the silence to assume before any has been measured.
  SwitchRepair(std::uint32_t slots, Duration guess) : waiting_(slots), guess_(guess) {}

  // A call begins; no packet is outstanding. The time at which other workers begin does not
  // depend on the path, so the silence before the first answer is not sampled.
  void on_call();
  void on_sent(std::uint32_t slot, Time now);
  // `late`: the answer had to wait for other workers to begin, so its round trip is not sampled.
  void on_answer(std::uint32_t slot, Time now, bool late);
  bool waits_for(std::uint32_t slot) const { return waiting_[slot].transmission != 0; }

  // The slot whose packet must be sent again now; the caller then calls on_sent().
  std::optional<std::uint32_t> due(Time now);
  // The time of the next repeat if no answer arrives; kNever if no packet is outstanding.
  Time deadline();

  // How much later than its successors a packet may arrive without being considered lost.
  Duration allowance() const;

 private:
  struct Waiting {
    std::uint64_t transmission = 0;  // number of the last transmission; 0: no packet
    Time first_sent{};
    Time sent{};  // last transmission
    bool repeated = false;
    Time expected = kNever;  // when the answer was expected, once later answers indicated a loss
  };
  struct Sent {  // in order of time
    std::uint32_t slot;
    std::uint64_t transmission;
  };
  struct Evidence {  // the answered packet with the latest transmission
    std::uint64_t transmission = 0;
    Duration trip{0};
  };

  using Shortest = std::array<Duration, 2>;  // of this call and of the previous one; 0: none

  const Waiting* oldest();
  Duration silence(const Waiting& packet) const;
  Time lost_at(const Waiting& packet) const;
  Time probed_at(const Waiting& packet) const;
  Duration shortest_trip() const { return shortest_of(trips_); }
  static Duration shortest_of(const Shortest& recent);
  void learn_silence(Duration sample);
  void learn_trip(const Waiting& packet, Time now);
  void learn_order(const Waiting& packet, Time now);

  std::vector<Waiting> waiting_;
  std::deque<Sent> order_;
  std::uint64_t transmissions_ = 0;
  Evidence evidence_;
  // Repeats that answers allow: two per answer, so that a loss by overload is not repeated at once.
  int credit_ = 0;
  Time begun_ = kNever;  // time of this call's first answer
  Time heard_{};
  Time probed_{};
  int probes_ = 0;  // since the last answer
  Duration guess_;
  Duration mean_{0};  // mean silence; 0: not measured
  Duration deviation_{0};
  Shortest trips_{};
  Shortest quiet_trips_{};  // of packets whose answer was the first one after they were sent
  Duration reordered_{0};
};

}  // namespace dlcp::collective
