// A schedule as MSCCL's XML for the interpreters in RCCL and msccl-executor-nccl: for each GPU a
// thread block per connection and direction, with steps that wait for steps of other blocks.
#pragma once

#include <string>

#include "synth/plan/schedule.h"

namespace dlcp::synth {

// The schedule must be proven by verify() and unsliced: the interpreter slices the data itself.
// AllReduce, AllGather and ReduceScatter in place; AllToAll from input to output.
std::string msccl_xml(const Schedule& schedule, const std::string& name);

}  // namespace dlcp::synth
