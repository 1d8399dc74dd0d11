// What the GPU would do between two slices of a ring all-reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/element.h"

namespace dlcp::cli {

// What an all-reduce does, to elements of what type.
struct Reduction {
  collective::DataType type = collective::DataType::kFloat32;
  collective::ReduceOp op = collective::ReduceOp::kSum;

  std::size_t element_bytes() const { return collective::bytes_of(type); }
};

// As on the command line: f32, bf16, i8, u64; sum, prod, max, min.
const char* name_of(collective::DataType type);
const char* name_of(collective::ReduceOp op);

// to = a + b, and also = the same; `also` may be null.
void add_floats(float* to, float* also, const float* a, const float* b, std::size_t count);
// to = a op b, and also likewise. `bytes`: whole elements.
void combine(const Reduction& reduction, std::byte* to, std::byte* also, const std::byte* a,
             const std::byte* b, std::size_t bytes);
void copy_bytes(std::byte* to, std::byte* also, const std::byte* from, std::size_t bytes);
// to[i] = base[i] + offset
void offset_floats(float* to, const std::int8_t* base, float offset, std::size_t count);
// How many of seen[i] are not base[i] + offset, bit for bit.
std::size_t count_unequal(const float* seen, const float* base, float offset, std::size_t count);

}  // namespace dlcp::cli
