// Topologies from files, whatever kind they are of.
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::cli {

// `sketch` is a file of TACCL's, or empty.
Result<synth::Topology> read_topology(const std::string& path, const std::string& sketch);

}  // namespace dlcp::cli
