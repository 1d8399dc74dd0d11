// Reads topologies from files of any supported kind.
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::cli {

// `sketch`: path of a TACCL sketch, or empty.
Result<synth::Topology> read_topology(const std::string& path, const std::string& sketch);

}  // namespace dlcp::cli
