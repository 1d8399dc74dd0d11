// The cost of transfers on the network as it is: seconds = rounds * latency + bytes * per_byte. The
// two constants are fitted to the medians of all shapes by least squares of the relative errors;
// shapes that fit badly get less weight (Huber). If one constant would be negative, the other
// follows from the sum of all times, so that the shapes that take the most time decide.
#pragma once

#include <span>
#include <vector>

#include "whatif/steps/shares.h"

namespace dlcp::whatif {

struct Cost {
  double latency = 0;   // s per round
  double per_byte = 0;  // s per byte that a rank sends
  double error = 0;     // mean relative deviation of the shapes' medians, weighted by time
  // Sizes do not differ enough to separate both parts. `latency` is then assumed, and lies between
  // these.
  bool assumed = false;
  double latency_low = 0;
  double latency_high = 0;

  // The share of a transfer's time that depends on its bytes.
  double bytes_share(const Shape& shape) const;
  // The same cost with another latency, with which the fitted shapes still take as long.
  Cost with_latency(double other) const;

  double rounds_per_byte = 0;  // of the shapes, weighted by time
};

// The latency of a round through the kernels of two hosts, where nothing was measured.
inline constexpr double kUsualLatency = 25e-6;

// The transfers of a shape, over all steps and ranks.
struct ShapeTime {
  double median = 0;  // s; 0 if there are none
  double count = 0;
};
std::vector<ShapeTime> shape_times(const Shares& shares);

Cost fit_cost(std::span<const Shape> shapes, std::span<const ShapeTime> times);

double median_of(std::vector<double> values);                  // 0 if empty
double quantile_of(std::vector<double> values, double share);  // 0 if empty

}  // namespace dlcp::whatif
