// How long this processor takes to compress, which decides below what network speed it pays.
#pragma once

namespace dlcp::engine {

// Seconds per byte, the best of a few runs over bf16 numbers in the cache; takes about 0.1 ms.
double measure_encode_cost();

}  // namespace dlcp::engine
