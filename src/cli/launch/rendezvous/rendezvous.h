// Connects the ranks of several machines: rank 0's process listens, the others connect and send
// their rank. The connections then lead to the coordinator.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/rendezvous/world.h"

namespace dlcp::cli {

// Rank 0: waits for all others and returns their sockets by rank (-1 for rank 0). Throws BenchError
// on a time-out, a rank that connects twice, or a rank with different `options`; the connected
// ranks get the same message.
std::vector<int> gather_ranks(const World& world, const std::string& options, double timeout);

// The others: connect, try again until the time-out, and wait until rank 0 says go.
int join_ranks(const World& world, const std::string& options, double timeout);

}  // namespace dlcp::cli
