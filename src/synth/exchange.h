// Algorithms of dimensions: a rank's place is a number of mixed radix, and ranks that differ in one
// digit exchange what differs in it, one digit after the other. One digit of n: direct; log2 n
// digits of 2: halving and doubling; (ranks of a leaf, leaves): two levels, and so on.
#pragma once

#include <span>
#include <vector>

#include "synth/schedule.h"

namespace dlcp::synth {

struct Level {
  int radix = 2;
  bool ring = false;  // passes on to the next digit, in radix - 1 steps, instead of sending to all
};

// `order`: the rank at each place; the first level's digit is the fastest. Radices multiply to the
// number of ranks.
Schedule gather_by_levels(std::span<const int> order, std::span<const Level> levels);
Schedule all_to_all_by_levels(std::span<const int> order, std::span<const Level> levels);
// Whole vectors exchanged over each of log2 n digits: the fewest steps, for small AllReduce. The
// number of ranks is a power of two; then all ranks add in the same shape and get the same bits.
Schedule all_reduce_by_doubling(std::span<const int> order);

}  // namespace dlcp::synth
