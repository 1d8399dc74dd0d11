// Reads TACCL's inputs (its INPUT_GUIDE): a topology of one box in JSON, alpha in us and beta in
// us/MB, and a sketch that describes how boxes are joined. Parts of a sketch that only guide
// TACCL's solver (symmetry, chunks, ordering) are ignored.
#pragma once

#include <optional>
#include <string>

#include "synth/topology.h"

namespace dlcp::synth {

struct InputFile {
  std::string text;
  std::string source;  // file name, for errors
};

// Whether a file looks like TACCL's topology: it has the key gpus_per_node.
bool is_taccl(const std::string& text);
// Without a sketch: one box. The result is settled.
Result<Topology> parse_taccl(const InputFile& topology, const std::optional<InputFile>& sketch);

}  // namespace dlcp::synth
