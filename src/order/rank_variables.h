// The variables by which launchers tell a process its rank, and what they say when the hosts take
// their ranks from an order instead. Frameworks that read them (PyTorch's env://, Lightning,
// Accelerate, Megatron, DeepSpeed) need nothing else; MPI itself keeps the ranks that it gave.
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
  Assignments set;    // what the environment has to say from now on
};

// `host`: index of the host on which the process runs. The error says which variable is missing or
// does not go with the order.
Result<RankVariables> rank_variables(const fabric::OrderFile& file, int host, const Lookup& env);

}  // namespace dlcp::order
