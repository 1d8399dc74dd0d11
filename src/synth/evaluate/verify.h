// Proof that a schedule is a correct collective, by running it on symbols: the ranks whose
// contributions each copy of each chunk contains. It checks that a sender has what it sends, that
// sums contain every contribution once, that no rank receives data that it has already, that every
// rank ends with its whole output, and that no message waits for itself through the order of
// messages on a connection.
#pragma once

#include <string>

#include "synth/plan/schedule.h"
#include "synth/routes.h"
#include "synth/topology.h"

namespace dlcp::synth {

struct Verdict {
  bool correct = false;
  std::string why;            // the first fault; empty if correct
  int ranks_taking_part = 0;  // ranks that send or receive; a single rank counts
};

// Accepts any schedule: indices are checked before use. `routes`, if not null, must lead from each
// sender to its receiver.
Verdict verify(const Schedule& schedule, const Routes* routes = nullptr);

}  // namespace dlcp::synth
