// Measures the compression speed of this processor, which determines up to which network speed
// compression pays. Counters of the time spent are estimated from it, too.
#pragma once

namespace dlcp::engine {

// Seconds per byte of a message: the best of a few runs over bf16 numbers in the cache.
struct CodingCost {
  double encode_s_per_byte = 0;
  double decode_s_per_byte = 0;
};

// Takes about 0.1 ms.
CodingCost measure_coding_cost();

}  // namespace dlcp::engine
