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

// What a sender marks a packet as.
enum class Worth : std::uint8_t { kProtected, kDroppable };

class WorthJudge {
 public:
  explicit WorthJudge(float droppable_share) : quantile_(droppable_share) {}

  // Scores the payload and compares it with the stream's packets before it.
  Worth judge(ElementType type, std::span<const std::byte> payload) {
    return quantile_.add(mean_magnitude(type, payload)) ? Worth::kDroppable : Worth::kProtected;
  }

 private:
  MagnitudeQuantile quantile_;
};

}  // namespace dlcp::gradient
