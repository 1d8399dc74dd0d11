// The cost of transfers on the network as it is: seconds = rounds * latency + bytes * per_byte. The
// two constants are fitted to the medians of all shapes by least squares of the relative errors;
// shapes that fit badly get less weight (Huber).
#pragma once

#include <span>
#include <vector>

#include "whatif/shares.h"

namespace dlcp::whatif {

struct Cost {
  double latency = 0;   // s per round
  double per_byte = 0;  // s per byte that a rank sends
  double error = 0;     // median relative deviation of the shapes' medians from the fit
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

// `medians`: of the transfers of each shape, in s; 0 if there are none.
Cost fit_cost(std::span<const Shape> shapes, std::span<const double> medians);

// The median transfer of each shape over all steps and ranks.
std::vector<double> shape_medians(const Shares& shares);

double median_of(std::vector<double> values);                  // 0 if empty
double quantile_of(std::vector<double> values, double share);  // 0 if empty

}  // namespace dlcp::whatif
