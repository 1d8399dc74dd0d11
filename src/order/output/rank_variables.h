// The variables by which launchers tell a process its rank, and their values if the hosts take
// their ranks from an order instead. Frameworks that read them (PyTorch's env://, Lightning,
// Accelerate, Megatron, DeepSpeed) need nothing else; MPI keeps the ranks that it assigned.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/order_file.h"
#include "util/result.h"

namespace dlcp::order {

using Lookup = std::function<const char*(const char*)>;  // nullptr: not set
using Assignments = std::vector<std::pair<std::string, std::string>>;

struct RankVariables {
  int rank = 0;       // of the process, new
  int node_rank = 0;  // of its host, new
  Assignments set;    // new values for the environment
};

// `host`: index of the host on which the process runs. The error names a variable that is missing
// or does not agree with the order.
Result<RankVariables> rank_variables(const fabric::OrderFile& file, int host, const Lookup& env);

}  // namespace dlcp::order
