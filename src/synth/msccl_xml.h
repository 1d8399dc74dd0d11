// A schedule as MSCCL's XML, which its interpreters in RCCL and msccl-executor-nccl read: for each
// GPU a thread block per connection and direction, steps that wait for steps of other blocks.
#pragma once

#include <string>

#include "synth/schedule.h"

namespace dlcp::synth {

// Of a schedule that verify() has proven, unsliced: the interpreter cuts the data by itself.
// AllReduce, AllGather and ReduceScatter in place; AllToAll from input to output.
std::string msccl_xml(const Schedule& schedule, const std::string& name);

}  // namespace dlcp::synth
