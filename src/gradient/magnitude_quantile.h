// A running quantile of one stream's packet magnitudes, in eight bytes: below it packets are
// droppable. Stochastic approximation on the logarithm, as magnitudes span decades and shrink as
// training goes on: each sample moves the threshold by a fixed ratio, up or down in the proportion
// that the quantile asks for. Equal samples in, equal thresholds out.
#pragma once

#include "gradient/magnitude.h"

namespace dlcp::gradient {

class MagnitudeQuantile {
 public:
  // `share` of the packets are to lie below, 0 (none) .. 0.95.
  explicit MagnitudeQuantile(float share);

  // True when the sample lies below the threshold as it was before it. The first sample of a stream
  // never does, and a sample that is not finite neither does nor moves anything.
  bool add(float magnitude);
  float threshold() const { return threshold_; }  // 0: no sample yet

 private:
  float rise_;  // of the threshold after a sample above it, as a factor
  float fall_;
  float threshold_ = 0;
};

// What a sender marks a packet as. Both lower levels may be lost; kDroppable goes first.
enum class Worth : std::uint8_t { kProtected, kMiddle, kDroppable };

class WorthJudge {
 public:
  // Shares of a stream's packets, smallest first. middle_share 0: there is no such level.
  explicit WorthJudge(float droppable_share, float middle_share = 0)
      : droppable_(droppable_share),
        middle_(middle_share > 0 ? droppable_share + middle_share : 0) {}

  // Compares a packet's magnitude with those of the stream's packets before it.
  Worth judge(float magnitude) {
    const bool small = middle_.add(magnitude);
    if (droppable_.add(magnitude)) return Worth::kDroppable;
    return small ? Worth::kMiddle : Worth::kProtected;
  }

 private:
  MagnitudeQuantile droppable_;  // below it
  MagnitudeQuantile middle_;     // below it, and not below the other
};

}  // namespace dlcp::gradient
