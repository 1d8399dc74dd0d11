// `dlcp synth --mscclpp-json`: the fastest algorithm that fits into MSCCL++'s executor.
#pragma once

#include <string>

#include "synth/search/synthesis.h"

namespace dlcp::cli {

// Writes the algorithm for the largest size of `made` or, if it does not fit into the executor's
// thread blocks, the fastest one that fits. Returns a note on the algorithm that was left out and
// the time this costs; empty if none was. `box`: number of consecutive ranks that share memory.
// Fails if no algorithm fits.
Result<std::string> write_mscclpp_file(const std::string& path, const synth::Topology& topology,
                                       const synth::Synthesis& made, const synth::Wishes& wishes,
                                       int box);

}  // namespace dlcp::cli
