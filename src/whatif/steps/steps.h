// Finds training steps in a run: a step is a sequence of collectives (function, type, size) that
// repeats. Its beginning is where the longest pause is, usually the forward pass.
#pragma once

#include <cstddef>
#include <vector>

#include "whatif/run/run.h"

namespace dlcp::whatif {

struct Steps {
  std::vector<std::size_t> order;  // indices of the run's records, in the order of their calls
  std::vector<std::size_t>
      begins;                   // positions in `order`: begin of each whole step, end of the last
  std::size_t collectives = 0;  // of a step; 0: no sequence repeats
  double agreement = 0;         // share of the collectives that equal the one a step earlier

  std::size_t count() const { return begins.size() < 2 ? 0 : begins.size() - 1; }
};

Steps find_steps(const Run& run);

}  // namespace dlcp::whatif
