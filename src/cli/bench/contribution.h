// What a rank adds to the sums of ring and plan: integers so small that any order of summation is
// exact, so that every element has one right result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcp::cli {

// `count` elements of a rank's vector from element `first` on.
std::vector<std::int8_t> contribution(std::uint64_t seed, int rank, std::size_t first,
                                      std::size_t count);

// Of all elements in one all-reduce, so that what is left of another one is seen.
constexpr float iteration_offset(std::uint64_t iteration) {
  return static_cast<float>(iteration % 64);
}

}  // namespace dlcp::cli
