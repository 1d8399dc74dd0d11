// A plan of `dlcp synth` for the all-reduces of a group: read, proven, and cut down to what one
// rank does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/planned_exchange.h"
#include "util/result.h"

namespace dlcp::nccl {

struct CollectivePlan {
  std::uint64_t hash = 0;  // of all that ranks must have alike; not 0
  std::vector<collective::PlannedSize> sizes;
};

// `text`: of the file `path`. Refuses (kInvalidUsage) what is no plan, one for another collective
// or number of ranks, one that is wrong, and one whose ranks would add in different orders, so that
// their results could differ in bits.
Result<CollectivePlan> collective_plan(const std::string& path, const std::string& text, int ranks,
                                       int rank);

// What can be said of it before the group is known.
Status check_collective_plan(const std::string& path, const std::string& text);

}  // namespace dlcp::nccl
