// A running quantile of the packet magnitudes of one stream: packets below it are droppable. It is
// a stochastic approximation on the logarithm, because magnitudes span decades and shrink during
// training. Each sample moves the threshold up or down by a fixed ratio, in the proportion that the
// quantile requires. It is deterministic.
#pragma once

#include "gradient/magnitude.h"

namespace dlcp::gradient {

class MagnitudeQuantile {
 public:
  // `share` of the packets shall be below, 0 (none) .. 0.95.
  explicit MagnitudeQuantile(float share);

  // True if the sample is below the threshold that the earlier samples gave. False for the first
  // sample of a stream. A sample that is not finite returns false and changes nothing.
  bool add(float magnitude);
  float threshold() const { return threshold_; }  // 0: no sample yet

 private:
  float rise_;  // factor of the threshold after a sample above it
  float fall_;
  float threshold_ = 0;
};

// The level of a packet. Packets of both lower levels may be lost, kDroppable first.
enum class Worth : std::uint8_t { kProtected, kMiddle, kDroppable };

class WorthJudge {
 public:
  // Shares of a stream's packets, smallest first. middle_share 0: there is no middle level.
  explicit WorthJudge(float droppable_share, float middle_share = 0)
      : droppable_(droppable_share), unprotected_(droppable_share + middle_share) {}

  // Compares a packet's magnitude with those of earlier packets of the stream.
  Worth judge(float magnitude) {
    const bool droppable = droppable_.add(magnitude);
    if (!unprotected_.add(magnitude)) return Worth::kProtected;
    return droppable ? Worth::kDroppable : Worth::kMiddle;
  }

 private:
  MagnitudeQuantile droppable_;    // below both: kDroppable
  MagnitudeQuantile unprotected_;  // below this one alone: kMiddle
};

}  // namespace dlcp::gradient
