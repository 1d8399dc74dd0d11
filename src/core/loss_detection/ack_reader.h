// What acknowledgements tell a sender of the network: how long packets took, path by path, and how
// many were sent again for nothing. Owns the estimate of the round trip.
#pragma once

#include <cstdint>

#include "core/congestion/congestion.h"
#include "core/loss_detection/flight.h"
#include "core/loss_detection/rtt.h"
#include "core/paths/path_set.h"
#include "util/time.h"
#include "wire/control_frame.h"

namespace dlcp::core {

// How long answers take, from stamps of two clocks: beyond what the first one took.
class AnswerDelay {
 public:
  Duration of(std::uint32_t sent, Time arrived_at);

 private:
  bool begun_ = false;
  std::uint32_t last_ = 0;  // 128 ns units between the clocks
  std::int64_t delay_ = 0;  // likewise
};

class AckReader {
 public:
  const RttEstimator& rtt() const { return rtt_; }
  // We have slept until `now`: what took longer than that was not the network.
  void on_pause(Time now) { woken_at_ = now; }

  // Who learns from what the paths tell.
  struct Learners {
    Flight& flight;
    PathSet& paths;
    CongestionControl& congestion;
  };
  // Of the newest packet that an ACK tells of: its time between the hosts there and back (zero: the
  // ACK tells of none), and at the receiver.
  struct Delays {
    Duration fabric{0};
    Duration held{0};
  };
  // `round_trip`: what is taken for the delay of packets that were under way while we slept.
  Delays read_paths(Time now, const wire::Ack& ack, Time arrived_at, Duration round_trip,
                    const Learners& learners, AckSample& sample);

  // Packets that the receiver had twice, and that it has not told of before. Such show before they
  // are sent again (the original is acknowledged) or after (both arrive): these are the latter.
  std::uint32_t read_duplicates(const wire::Ack& ack);

 private:
  RttEstimator rtt_;
  AnswerDelay answers_;
  Time woken_at_ = Time::min();   // after the last pause
  std::uint32_t duplicates_ = 0;  // that the receiver has reported so far
};

}  // namespace dlcp::core
