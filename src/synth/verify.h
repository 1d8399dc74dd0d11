// Proof that a schedule is a correct collective, by running it on symbols: which ranks'
// contributions each copy of each chunk holds. Nothing is sent that the sender does not have by
// then, sums hold every contribution once, nobody is sent what he has, everyone ends with his whole
// output, and no order of messages on a connection waits for itself.
#pragma once

#include <string>

#include "synth/routes.h"
#include "synth/schedule.h"
#include "synth/topology.h"

namespace dlcp::synth {

struct Verdict {
  bool correct = false;
  std::string why;            // the first fault; empty if correct
  int ranks_taking_part = 0;  // that send or receive; a rank alone takes part
};

// Whatever the schedule holds: indices are checked before they are used. `routes`, where there are
// such, must lead from each sender to its receiver.
Verdict verify(const Schedule& schedule, const Routes* routes = nullptr);

}  // namespace dlcp::synth
