// Whether jobs can use a plan for AllReduce: it is correct, and every rank ends with the same bits.
#pragma once

#include "synth/plan/plan.h"
#include "synth/plan/schedule.h"
#include "util/result.h"

namespace dlcp::synth {

// Whether every rank ends with the same bits in every chunk. The schedule must be a correct
// AllReduce, sorted by step. The order of the operands of a single addition does not matter.
bool adds_alike(const Schedule& schedule);

// The recipe's schedule, sorted by step. Rejects (kInvalidUsage) incorrect schedules and those that
// add in different orders on different ranks.
Result<Schedule> proven_all_reduce(const Plan& plan, Recipe recipe);

}  // namespace dlcp::synth
