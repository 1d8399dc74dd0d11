// The steps of one rank in a ring all-reduce of k ranks, with the sizes of NCCL's Simple protocol:
// a loop has one chunk per rank, a chunk two slices, a slice at most 1 MiB. In each loop a rank
// sends 2(k-1) chunks and receives as many. A slice is a message; beyond the end of the data it is
// empty.
#pragma once

#include <cstddef>
#include <vector>

namespace dlcp::cli {

inline constexpr std::size_t kRingSliceBytes = std::size_t{1} << 20;

struct RingStep {
  bool receives;
  bool sends;
  bool reduces;        // adds this rank's own data to what it received
  bool stores;         // the result is final
  std::size_t offset;  // in elements
  std::size_t count;   // may be 0
  std::size_t sum_of;  // number of ranks whose data the arriving sum contains
};

// For elements [first, first + count).
std::vector<RingStep> plan_ring(std::size_t first, std::size_t count, int rank, int ranks,
                                std::size_t element_bytes = 4);

}  // namespace dlcp::cli
