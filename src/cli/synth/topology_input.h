// Topologies from files, whatever kind they are of; and files as a whole.
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::cli {

// `sketch` is a file of TACCL's, or empty.
Result<synth::Topology> read_topology(const std::string& path, const std::string& sketch);

// The whole of a file of at most 64 MiB.
Result<std::string> read_whole(const std::string& path);
Status write_whole(const std::string& path, const std::string& text);

}  // namespace dlcp::cli
