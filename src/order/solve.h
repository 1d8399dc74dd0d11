// The order of hosts: leaves contiguous, groups of leaves contiguous, leaf after leaf so that trees
// cut them at their seams; which serves ring, double tree, PAT and all-to-all alike. For a mesh the
// ranks are then exchanged until the fullest uplink carries no less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "order/cost.h"
#include "order/patterns.h"
#include "order/threshold.h"

namespace dlcp::order {

struct SolveOptions {
  std::optional<Mesh> mesh;
  double gain_min = 1.1;                 // less than that, and the given order stays
  std::uint64_t seed = 1;                // of the search for meshes
  const Distances* distances = nullptr;  // between all hosts where known, to place siblings
};

struct Comparison {
  std::string name;  // of the pattern: ring, tree, pat, alltoall, mesh
  Cost before, after;
  double bound_seconds = 0;  // no order takes less; 0: not known

  // How many times faster; 1 where nothing is known.
  double gain() const { return ratio(before.seconds, after.seconds); }
  double latency_gain() const { return ratio(before.latency_us, after.latency_us); }
  static double ratio(double before, double after) { return after > 0 ? before / after : 1; }
};

struct Solution {
  std::vector<int> order;  // hosts by rank; silent hosts last
  bool kept = false;       // it is the given one, as no other gains enough
  std::vector<Comparison> comparisons;
  int crossings_before = 0, crossings_after = 0;
  // Of what the order is for: the mesh, or else the ring.
  double gain = 1;
};

// `given`: hosts by rank today, a permutation of all.
Solution solve(const fabric::Fabric& fabric, const std::vector<int>& given,
               const SolveOptions& options = {});

}  // namespace dlcp::order
