// What a worker sends again, and when. One switch answers, and packets keep their order on the way
// to it and back, so an answer to what was sent later tells of a loss as it does for TCP (RACK,
// RFC 8985): it takes a round trip, not a time-out. Only where nothing comes any more, as behind a
// lost tail, the oldest packet is sent again by time. That one alone: its answer tells of the rest.
//
// How long silence may last is measured as silence: from one's own transmission, or from the last
// answer if that came later. A burst's own queue is no part of it, as answers come all the while;
// but they come so evenly that they tell little of the next one, so that what has waited for long
// waits a share of that longer.
//
// Time is an argument. Slots hold one packet at a time.
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
  // No silence is waited out longer after the first repeats, unless that is what it takes anyway.
  static constexpr Duration kLongestBackOff = 4ms;

  // `guess`: of silence, until some has been measured.
  SwitchRepair(std::uint32_t slots, Duration guess) : waiting_(slots), guess_(guess) {}

  // A call begins; nothing is waited for. When other workers begin is no property of the path:
  // until the first answer silence tells nothing, and is no sample.
  void on_call();
  void on_sent(std::uint32_t slot, Time now);
  // `late`: the answer had to wait for other workers to begin; its round trip is no sample.
  void on_answer(std::uint32_t slot, Time now, bool late);
  bool waits_for(std::uint32_t slot) const { return waiting_[slot].transmission != 0; }

  // The slot whose packet is to be sent again now; on_sent() follows.
  std::optional<std::uint32_t> due(Time now);
  // When there will be one, if no answer comes; kNever: nothing is waited for.
  Time deadline();

  // How much later than its successors a packet may come and not be lost.
  Duration allowance() const;

 private:
  struct Waiting {
    std::uint64_t transmission = 0;  // the last one's number; 0: no packet
    Time first_sent{};
    Time sent{};  // the last time
    bool repeated = false;
    Time expected = kNever;  // the answer, when later ones told that it was lost
  };
  struct Sent {  // in the order of time
    std::uint32_t slot;
    std::uint64_t transmission;
  };
  struct Evidence {  // the answered packet that was sent last
    std::uint64_t transmission = 0;
    Duration trip{0};
  };

  using Shortest = std::array<Duration, 2>;  // of this call and of the one before; 0: none

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
  // Repairs by evidence: two for each answer, so that what was lost because it was too much does
  // not come again at once.
  int credit_ = 0;
  Time begun_ = kNever;  // when the first answer of this call came
  Time heard_{};
  Time probed_{};
  int probes_ = 0;  // since the last answer
  Duration guess_;
  Duration mean_{0};  // of silence; 0: not measured
  Duration deviation_{0};
  Shortest trips_{};
  Shortest quiet_trips_{};  // of packets whose answer was the first one after they were sent
  Duration reordered_{0};
};

}  // namespace dlcp::collective
