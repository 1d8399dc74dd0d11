// The operations of the thread blocks that carry some chunks of a schedule, one block on each GPU.
#pragma once

#include <optional>
#include <vector>

#include "synth/output/mscclpp_block.h"
#include "synth/plan/schedule.h"

namespace dlcp::synth {

// Chunks first..end-1, for a schedule that verify() has proven; nullopt as soon as a block exceeds
// the executor's limits. Received data that is summed or only forwarded needs scratch memory:
// `scratch` counts the units used, by rank. Blocks of one GPU never wait for each other, as chunks
// are independent.
std::optional<std::vector<MscclppBlock>> mscclpp_blocks(const Schedule& schedule, int box,
                                                        int first, int end,
                                                        std::vector<int>& scratch);

}  // namespace dlcp::synth
