// What the thread blocks that carry some chunks of a schedule do, one on each GPU.
#pragma once

#include <optional>
#include <vector>

#include "synth/mscclpp_block.h"
#include "synth/schedule.h"

namespace dlcp::synth {

// Chunks first..end-1, for a schedule that verify() has proven; nothing where a block would not fit
// the executor, noticed as soon as one does not. Of all that a GPU receives, sums
// and what it only passes on need room of their own: units of scratch, counted on in `scratch` by
// rank. Blocks of one GPU never wait for each other, as chunks share nothing.
std::optional<std::vector<MscclppBlock>> mscclpp_blocks(const Schedule& schedule, int box,
                                                        int first, int end,
                                                        std::vector<int>& scratch);

}  // namespace dlcp::synth
