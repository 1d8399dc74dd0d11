// A plan of `dlcp synth` for the all-reduces of a group: parsed, verified, and reduced to the part
// of one rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/exchange/planned_exchange.h"
#include "util/result.h"

namespace dlcp::nccl {

struct CollectivePlan {
  std::uint64_t hash = 0;  // of everything that must be the same on all ranks; not 0
  std::vector<collective::PlannedSize> sizes;
};

// `text` is the content of file `path`. The error is kInvalidUsage for an invalid plan, a plan for
// another collective or number of ranks, an incorrect plan, and a plan whose ranks would add in
// different orders, so that their results could differ in bits.
Result<CollectivePlan> collective_plan(const std::string& path, const std::string& text, int ranks,
                                       int rank);

// The checks that are possible before the group is known.
Status check_collective_plan(const std::string& path, const std::string& text);

}  // namespace dlcp::nccl
