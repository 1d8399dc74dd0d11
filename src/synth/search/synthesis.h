// From a topology to a plan: bound, candidates, simulation, the best for each size, proof.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "synth/flow/bound.h"
#include "synth/plan/plan.h"
#include "synth/routes.h"

namespace dlcp::synth {

struct Outcome {  // of one size
  double bytes = 0;
  std::size_t bracket = 0;  // of the plan
  double seconds = 0;
  double bound_seconds = 0;
  double ring_seconds = 0;  // over the ranks in the given order, as NCCL; 0 if no ring is possible
  double tree_seconds = 0;  // NCCL's tree over the same order; 0 if none

  double ratio() const { return seconds > 0 ? bound_seconds / seconds : 1; }
};

struct Synthesis {
  Plan plan;
  Bound bound;
  std::vector<Outcome> outcomes;  // by size
  bool verified = false;
  std::string fault;          // of the proof; empty if correct
  int ranks_taking_part = 0;  // in every bracket
};

enum class Algorithms { kAll, kNcclRing, kNcclTree };

struct Wishes {
  Algorithms algorithms = Algorithms::kAll;
  // Receives progress messages.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  // Only schedules for which this is true are used, because executors have limits.
  std::function<bool(const Schedule&)> accepts = [](const Schedule&) { return true; };
};

// `sizes`: bytes of a rank's buffer, ascending, at least one. Fails if no candidate fits the
// topology and is accepted.
Result<Synthesis> synthesise(const Topology& topology, Collective collective,
                             const std::vector<double>& sizes, const Wishes& wishes = {});

}  // namespace dlcp::synth
