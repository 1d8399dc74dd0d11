// A simulated network for `dlcp order --simulate` and the tests: hosts on leaves of one or two
// tiers, RTTs with noise, capacities, and faults.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "order/measure/measurements.h"
#include "util/result.h"

namespace dlcp::order {

// "hosts=512,leaves=32,oversubscription=4,noise=0.3,seed=7"; the names are those of the members.
struct SimulationSpec {
  int hosts = 64;               // 1..65536
  int leaves = 1;               // 1..hosts; 1: flat
  int pods = 1;                 // 1..leaves; more than 1: three tiers
  double oversubscription = 1;  // 1..1000: rate of a leaf's hosts over that of its uplinks
  double pod_oversubscription = 1;
  double noise = 0;      // 0..1: largest relative error of a pair's RTT, constant for the pair
  double asymmetry = 0;  // 0..1: the same, but different in each direction
  std::uint64_t seed = 1;
  double gb_per_s = 100;  // of a host
  int rails = 1;          // interfaces of a host, which share gb_per_s
  int slow_hosts = 0;     // hosts with a quarter of the rate
  int slow_leaves = 0;    // leaves whose uplinks have a quarter of the rate
  int silent = 0;         // hosts that never answer
  bool uneven = false;    // leaves of different sizes
  bool shuffled = true;   // hosts are listed in random order, not leaf by leaf
  bool hops = false;      // answers show how many routers they passed
};

Result<SimulationSpec> parse_simulation(std::string_view text);

struct Transfer;

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(const SimulationSpec& spec);

  // The true fabric, for comparison with the result: its real groups, and hosts as listed.
  const fabric::Fabric& truth() const { return truth_; }
  Measurement measure(Pair pair) const;
  // Received Gb/s of each transfer when all run at the same time: max-min fair shares of the links.
  std::vector<double> load(const std::vector<Transfer>& transfers) const;

 private:
  SimulationSpec spec_;
  fabric::Fabric truth_;
  std::vector<bool> silent_;
};

}  // namespace dlcp::order
