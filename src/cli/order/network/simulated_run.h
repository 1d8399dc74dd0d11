// A simulated network behind the interface order::Network, with the time that real bursts and loads
// would take.
#pragma once

#include "order/discover/discovery.h"
#include "order/measure/simulated_network.h"

namespace dlcp::cli {

class SimulatedRun : public order::Network {
 public:
  explicit SimulatedRun(const order::SimulationSpec& spec) : network_(spec) {}

  std::vector<order::Measurement> probe(const std::vector<order::Pair>& pairs) override;
  std::vector<double> load(const order::LoadPhase& phase) override;

  const fabric::Fabric& truth() const { return network_.truth(); }
  double seconds() const { return seconds_; }
  double load_gb() const { return load_gb_; }

 private:
  order::SimulatedNetwork network_;
  double seconds_ = 0;
  double load_gb_ = 0;
};

}  // namespace dlcp::cli
