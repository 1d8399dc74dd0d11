// The steps of one rank's part in a ring all-reduce, cut as NCCL's Simple protocol cuts it: loops
// of one chunk per rank, chunks of two slices, slices of at most 1 MiB; in each loop 2(k-1) chunks
// are sent and as many received. One slice is one message; a slice beyond the data's end is an
// empty message.
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
  std::size_t sum_of;  // what arrives is the sum of so many ranks' data
};

// For `count` elements that start at `first`.
std::vector<RingStep> plan_ring(std::size_t first, std::size_t count, int rank, int ranks,
                                std::size_t element_bytes = 4);

}  // namespace dlcp::cli
