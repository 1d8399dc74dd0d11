// Reads what acknowledgements report about the network: the delay of packets on each path, and the
// number of spurious retransmissions. Owns the RTT estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/congestion/congestion.h"
#include "core/loss_detection/flight.h"
#include "core/loss_detection/rtt.h"
#include "core/paths/path_set.h"
#include "util/time.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

// The one-way delay of acknowledgements, relative to the first one, because the stamps are of two
// clocks.
class AnswerDelay {
 public:
  Duration of(std::uint32_t sent, Time arrived_at);

 private:
  bool begun_ = false;
  std::uint32_t last_ = 0;  // difference of the clocks' stamps, 128 ns units
  std::int64_t delay_ = 0;  // 128 ns units
};

class AckReader {
 public:
  // A card waits for a multiple of the RTT before it repeats a packet for which there is no answer:
  // 17 ms or more, for those of datapath/verbs. This many times the answer time is taken for that.
  static constexpr int kRepeatTimes = 4;

  const RttEstimator& rtt() const { return rtt_; }
  // This process did not run until `now`. Delays of packets that were sent before include that time
  // and are ignored.
  void on_pause(Time now) { woken_at_ = now; }

  // The objects that use the reports of paths.
  struct Learners {
    Flight& flight;
    PathSet& paths;
    std::function<void(Duration fabric, Duration answer)> on_delay;  // of congestion control
  };
  // Returns the time in the network, there and back, of the newest packet that the ACK reports;
  // zero: it reports none. `round_trip` replaces the delay of packets that were in flight during a
  // pause of this process. The reports from index `repaired_from` on are of packets that the card
  // repairs.
  Duration read_paths(Time now, const wire::Ack& ack, Time arrived_at, Duration round_trip,
                      const Learners& learners, AckSample& sample,
                      std::size_t repaired_from = ~std::size_t{0});

  // Number of duplicates at the receiver that were not reported before. A spurious retransmission
  // shows either before the chunk is sent again (the original is acknowledged) or after (both
  // copies arrive). This counts the second kind.
  std::uint32_t read_duplicates(const wire::Ack& ack);

 private:
  bool is_slow(Duration fabric) const;

  RttEstimator rtt_;
  unsigned slow_in_row_ = 0;  // repaired packets
  AnswerDelay answers_;
  Time woken_at_ = Time::min();   // after the last pause
  std::uint32_t duplicates_ = 0;  // reported by the receiver so far
};

}  // namespace dlcp::core
