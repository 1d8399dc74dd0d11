// Network namespaces of this machine, as scripts/netns makes them: emulated hosts.
#pragma once

#include <string>

namespace dlcp::cli {

// Moves this process into the namespace. Throws BenchError(kUsage).
void enter_namespace(const std::string& name);
// The number of namespaces PREFIX0, PREFIX1, ... that exist, up to the first gap.
int count_namespaces(const std::string& prefix);

}  // namespace dlcp::cli
