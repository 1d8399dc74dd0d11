// Where the ranks of several machines meet: rank 0's process listens, the others connect and name
// themselves. The connections then serve as the ranks' lines to the coordinator.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/world.h"

namespace dlcp::cli {

// Rank 0: waits for all others; returns their sockets by rank (-1 for rank 0). `options` must be
// the same everywhere. Throws BenchError on time-out, on a rank that comes twice, on other options;
// the ranks that came are told the same.
std::vector<int> gather_ranks(const World& world, const std::string& options, double timeout);

// The others: connects, trying again until the time is up, and waits until rank 0 says go.
int join_ranks(const World& world, const std::string& options, double timeout);

}  // namespace dlcp::cli
