#include "gradient/magnitude_quantile.h"

#include <algorithm>
#include <cmath>

namespace dlcp::gradient {
namespace {

// One sample changes the logarithm by at most this: a tenfold change of scale is followed within a
// hundred packets, and the threshold stays within a few percent of a steady quantile.
constexpr float kStep = 0.05f;
// Packets that contain only zeros count as the smallest magnitude. The threshold can be lower, so
// that only the requested share of them is below it. All thresholds are normal numbers.
constexpr float kMagnitudeMin = 1e-37f;
constexpr float kMagnitudeMax = 1e37f;

}  // namespace

MagnitudeQuantile::MagnitudeQuantile(float share) {
  share = std::clamp(share, 0.0f, 0.95f);
  // If `share` of the samples are below the threshold, rises and falls compensate each other.
  rise_ = std::exp(kStep * share);
  fall_ = share > 0 ? std::exp(kStep * (share - 1)) : 0;
}

bool MagnitudeQuantile::add(float magnitude) {
  if (!std::isfinite(magnitude) || fall_ == 0) return false;
  magnitude = std::clamp(magnitude, kMagnitudeMin, kMagnitudeMax);
  if (threshold_ == 0) {
    threshold_ = magnitude;
    return false;
  }
  const bool below = magnitude < threshold_;
  threshold_ *= below ? fall_ : rise_;
  return below;
}

}  // namespace dlcp::gradient
