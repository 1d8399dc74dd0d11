// A schedule as a plan for MSCCL++'s executor (github.com/microsoft/mscclpp, 0.9.0): for each GPU
// thread blocks that write into their peers' memory and tell them, and wait to be told.
#pragma once

#include <cstdint>
#include <string>

#include "synth/schedule.h"
#include "util/result.h"

namespace dlcp::synth {

struct MscclppOptions {
  std::string name;
  int box = 1;  // ranks r with the same r / box share memory; others are reached through ports
  // Bytes of a rank's buffer for which the executor takes this plan.
  std::uint64_t bytes_min = 0;
  std::uint64_t bytes_max = ~std::uint64_t{0};
};

// Whether the executor's thread blocks have room for a schedule.
bool fits_mscclpp(const Schedule& schedule, int box);

// Of a schedule that verify() has proven. AllReduce and AllGather in place; ReduceScatter and
// AllToAll from input to output, and the input stays. Fails where a GPU has more to do with one
// chunk, or all of them, than the executor's thread blocks have room for.
Result<std::string> mscclpp_json(const Schedule& schedule, const MscclppOptions& options);

}  // namespace dlcp::synth
