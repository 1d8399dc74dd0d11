// A plan: for each range of buffer sizes the algorithm, in a form that every rank and tool expands
// to the same schedule, and the predicted times on the topology for which it was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synth/plan/exchange.h"
#include "synth/plan/gathers.h"
#include "synth/plan/schedule.h"
#include "util/result.h"

namespace dlcp::synth {

enum class Family { kExchange, kDoubling, kBruck, kPat, kTrees, kExplicit };

// The description of a schedule. Regular ones are a few numbers; kTrees and kExplicit are complete.
struct Recipe {
  std::string name;  // for messages: "ring", "direct within 4, across 4"
  Family family = Family::kExchange;
  std::vector<int> order;      // the rank at each place; kTrees and kExplicit: empty
  std::vector<Level> levels;   // kExchange
  std::vector<Tree> trees;     // kTrees: see by_trees
  std::vector<Tree> reducing;  // kTrees whose sums use other trees than the copies
  Schedule schedule;           // kExplicit
  int slices = 1;              // of sliced()

  bool operator==(const Recipe&) const = default;
};

// Fails for recipes that make no valid schedule (a file may contain anything).
Result<Schedule> expand(const Recipe& recipe, Collective collective, int ranks);

struct Bracket {
  double up_to = 0;  // bytes of a rank's buffer; the last bracket's is 0: unlimited
  Recipe recipe;
  double seconds = 0;  // predicted for `at` bytes
  double at = 0;
};

struct Plan {
  static constexpr int kVersion = 1;

  std::string topology;  // the topology's name
  Collective collective = Collective::kAllReduce;
  int ranks = 1;
  std::vector<std::string> rank_names;
  double bound_rate = 0;          // bytes per second, see Bound; 0: none (one rank)
  std::vector<Bracket> brackets;  // by ascending up_to

  const Bracket& bracket_for(double bytes) const;
};

}  // namespace dlcp::synth
