// `dlcp synth --mscclpp-json`: the fastest algorithm that MSCCL++'s executor has room for.
#pragma once

#include <string>

#include "synth/synthesis.h"

namespace dlcp::cli {

// Writes the algorithm of the largest size of `made`, or, where thread blocks have no room for it,
// the fastest that they have room for. Gives what to say about that: what was left out, and what it
// costs; else nothing. `box`: how many ranks side by side share memory. Fails where none fits.
Result<std::string> write_mscclpp_file(const std::string& path, const synth::Topology& topology,
                                       const synth::Synthesis& made, const synth::Wishes& wishes,
                                       int box);

}  // namespace dlcp::cli
