// Determines a fabric with any means of measuring: surveys, loads, and combines the results. The
// caller measures and keeps the time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "order/discover/threshold.h"
#include "order/measure/capacity.h"
#include "order/measure/measurements.h"
#include "order/measure/survey.h"

namespace dlcp::order {

// A network that can be measured. Each call blocks until its measurement is complete.
class Network {
 public:
  virtual ~Network() = default;
  // One measurement for each pair, in their order, all at the same time.
  virtual std::vector<Measurement> probe(const std::vector<Pair>& pairs) = 0;
  // Received Gb/s by transfer, all at the same time; NaN if not known.
  virtual std::vector<double> load(const LoadPhase& phase) = 0;
};

struct DiscoveryOptions {
  SurveyOptions survey;
  bool load = true;
  std::function<void(const std::string&)> progress;  // may be empty
};

struct Discovery {
  fabric::Fabric fabric;
  Measurements known{0};
  std::size_t probes = 0;  // pairs measured, one burst each
  std::size_t slots = 0;
  std::size_t load_phases = 0;
};

Discovery discover(Network& network, std::vector<fabric::Host> hosts,
                   const DiscoveryOptions& options);

// Distances of all measured pairs; nullopt if there are too many hosts for a square matrix.
std::optional<Distances> all_distances(const Measurements& known);

}  // namespace dlcp::order
