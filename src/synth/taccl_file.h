// TACCL's inputs (its INPUT_GUIDE): a topology of one box in JSON, alpha in us and beta in us/MB,
// and a sketch that says how boxes are joined. What in a sketch only guides TACCL's solver
// (symmetry, chunks, ordering) is passed over.
#pragma once

#include <optional>
#include <string>

#include "synth/topology.h"

namespace dlcp::synth {

struct InputFile {
  std::string text;
  std::string source;  // its name, for errors
};

// Whether a file looks like TACCL's topology: it has gpus_per_node.
bool is_taccl(const std::string& text);
// Without a sketch: one box. Settled.
Result<Topology> parse_taccl(const InputFile& topology, const std::optional<InputFile>& sketch);

}  // namespace dlcp::synth
