// Whether jobs can take a plan for AllReduce: it is correct, and every rank ends with the same
// bits.
#pragma once

#include "synth/plan.h"
#include "synth/schedule.h"
#include "util/result.h"

namespace dlcp::synth {

// Whether every rank ends with the same bits of every chunk, of a correct AllReduce in the order of
// steps. Sums of two are the same either way round.
bool adds_alike(const Schedule& schedule);

// The recipe's schedule, in the order of steps. Refuses (kInvalidUsage) what is wrong, and what
// adds in different orders on different ranks.
Result<Schedule> proven_all_reduce(const Plan& plan, Recipe recipe);

}  // namespace dlcp::synth
