// A network that exists as numbers only, for `dlcp order --simulate` and the tests: hosts on leaves
// of one or two tiers, round trips with noise, capacities, and things that are wrong with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "order/measurements.h"
#include "util/result.h"

namespace dlcp::order {

// "hosts=512,leaves=32,oversubscription=4,noise=0.3,seed=7"; each is a name here.
struct SimulationSpec {
  int hosts = 64;               // 1..65536
  int leaves = 1;               // 1..hosts; 1: flat
  int pods = 1;                 // 1..leaves; more than 1: three tiers
  double oversubscription = 1;  // 1..1000: what a leaf's hosts send over what leaves it
  double pod_oversubscription = 1;
  double noise = 0;      // 0..1: share by which the round trip of a pair is off, for good, at most
  double asymmetry = 0;  // 0..1: the same, but differs by direction
  std::uint64_t seed = 1;
  double gb_per_s = 100;  // of a host
  int rails = 1;          // interfaces of a host, which share that rate
  int slow_hosts = 0;     // carry a quarter
  int slow_leaves = 0;    // their uplinks carry a quarter
  int silent = 0;         // hosts that answer nothing
  bool uneven = false;    // leaves of different sizes
  bool shuffled = true;   // hosts are given in random order, not leaf by leaf
  bool hops = false;      // answers show how many routers they passed
};

Result<SimulationSpec> parse_simulation(std::string_view text);

struct Transfer;

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(const SimulationSpec& spec);

  // What is true, to compare with what is found: groups as they are, hosts as they are given.
  const fabric::Fabric& truth() const { return truth_; }
  Measurement measure(Pair pair) const;
  // Received Gb/s of each transfer when all run at once: fair shares of what they pass.
  std::vector<double> load(const std::vector<Transfer>& transfers) const;

 private:
  SimulationSpec spec_;
  fabric::Fabric truth_;
  std::vector<bool> silent_;
};

}  // namespace dlcp::order
