// A schedule as a plan for MSCCL++'s executor (github.com/microsoft/mscclpp, 0.9.0): for each GPU
// thread blocks that write into their peers' memory, signal them, and wait for signals.
#pragma once

#include <cstdint>
#include <string>

#include "synth/plan/schedule.h"
#include "util/result.h"

namespace dlcp::synth {

struct MscclppOptions {
  std::string name;
  int box = 1;  // ranks r with the same r / box share memory; ports lead to the others
  // Range of buffer sizes for which the executor uses this plan, in bytes per rank.
  std::uint64_t bytes_min = 0;
  std::uint64_t bytes_max = ~std::uint64_t{0};
};

// Whether a schedule fits into the executor's thread blocks.
bool fits_mscclpp(const Schedule& schedule, int box);

// The schedule must be proven by verify(). AllReduce and AllGather in place; ReduceScatter and
// AllToAll from input to output, and the input is preserved. Fails if a GPU's operations for one
// chunk, or for all chunks, do not fit into the executor's thread blocks.
Result<std::string> mscclpp_json(const Schedule& schedule, const MscclppOptions& options);

}  // namespace dlcp::synth
