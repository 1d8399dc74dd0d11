// Finds out what a network is like, over whatever can measure it: surveys, loads, and puts together
// what came of it. The measuring itself, and time, are the caller's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "order/capacity.h"
#include "order/measurements.h"
#include "order/survey.h"
#include "order/threshold.h"

namespace dlcp::order {

// Something that can be measured. Each call takes its time and returns when it is done.
class Network {
 public:
  virtual ~Network() = default;
  // One measurement for each pair, in their order, all at once.
  virtual std::vector<Measurement> probe(const std::vector<Pair>& pairs) = 0;
  // Received Gb/s by transfer, all at once; NaN where nothing is known.
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

// Distances of all pairs that were measured; nothing for more hosts than fit into memory squared.
std::optional<Distances> all_distances(const Measurements& known);

}  // namespace dlcp::order
