// Median and quartiles of repeated measurements.
#pragma once

#include <vector>

namespace dlcp::cli {

struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Values between two measurements are interpolated; all are 0 if there is no measurement.
Quartiles quartiles_of(std::vector<double> values);

}  // namespace dlcp::cli
