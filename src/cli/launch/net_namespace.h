// Network namespaces of this machine, as scripts/netns builds them: hosts in one kernel.
#pragma once

#include <string>

namespace dlcp::cli {

// From now on this process's sockets are in it. Throws BenchError(kUsage).
void enter_namespace(const std::string& name);
// How many of PREFIX0, PREFIX1, ... there are, without a gap.
int count_namespaces(const std::string& prefix);

}  // namespace dlcp::cli
