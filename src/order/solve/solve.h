// Finds an order of hosts: leaves contiguous, groups of leaves contiguous, and leaves arranged so
// that trees split at their boundaries. This suits ring, double tree, PAT and all-to-all alike. For
// a mesh, hosts are then swapped as long as this reduces the load of the most loaded uplink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "order/discover/threshold.h"
#include "order/solve/cost.h"
#include "order/solve/patterns.h"

namespace dlcp::order {

struct SolveOptions {
  std::optional<Mesh> mesh;
  double gain_min = 1.1;                 // with a smaller gain the given order is kept
  std::uint64_t seed = 1;                // of the search for meshes
  const Distances* distances = nullptr;  // between all hosts if known, to place sibling groups
};

struct Comparison {
  std::string name;  // of the pattern: ring, tree, pat, alltoall, mesh
  Cost before, after;
  double bound_seconds = 0;  // lower bound over all orders; 0: not known

  // Speed-up; 1 if not known.
  double gain() const { return ratio(before.seconds, after.seconds); }
  double latency_gain() const { return ratio(before.latency_us, after.latency_us); }
  static double ratio(double before, double after) { return after > 0 ? before / after : 1; }
};

struct Solution {
  std::vector<int> order;  // hosts by rank; silent hosts last
  bool kept = false;       // the given order was kept, as no other gains enough
  std::vector<Comparison> comparisons;
  int crossings_before = 0, crossings_after = 0;
  // For the order's purpose: the mesh if given, else the ring.
  double gain = 1;
};

// `given`: hosts by their present rank, a permutation of all.
Solution solve(const fabric::Fabric& fabric, const std::vector<int>& given,
               const SolveOptions& options = {});

}  // namespace dlcp::order
