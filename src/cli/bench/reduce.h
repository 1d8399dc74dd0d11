// What the GPU would do between two slices of a ring all-reduce, on 32-bit floats. `also` may be
// null.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcp::cli {

// to = a + b, and also = the same.
void add_floats(float* to, float* also, const float* a, const float* b, std::size_t count);
void copy_floats(float* to, float* also, const float* from, std::size_t count);
// to[i] = base[i] + offset
void offset_floats(float* to, const std::int8_t* base, float offset, std::size_t count);
// How many of seen[i] are not base[i] + offset, bit for bit.
std::size_t count_unequal(const float* seen, const float* base, float offset, std::size_t count);

}  // namespace dlcp::cli
