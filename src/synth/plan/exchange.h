// Algorithms by dimensions: a rank's place is a mixed-radix number, and ranks that differ in one
// digit exchange the corresponding data, one digit after the other. One digit of radix n: direct
// exchange; log2 n digits of radix 2: halving and doubling; (ranks of a leaf, leaves): two levels,
// and so on.
#pragma once

#include <span>
#include <vector>

#include "synth/plan/schedule.h"

namespace dlcp::synth {

struct Level {
  int radix = 2;
  bool ring = false;  // forwards along the digit in radix - 1 steps, instead of sending to all

  bool operator==(const Level&) const = default;
};

// `order`: the rank at each place; the first level's digit varies fastest. The product of the
// radices is the number of ranks.
Schedule gather_by_levels(std::span<const int> order, std::span<const Level> levels);
Schedule all_to_all_by_levels(std::span<const int> order, std::span<const Level> levels);
// Whole vectors exchanged over each of log2 n digits: the fewest steps, for small AllReduces. The
// number of ranks must be a power of two; then all ranks add in the same order and get the same
// bits.
Schedule all_reduce_by_doubling(std::span<const int> order);

}  // namespace dlcp::synth
