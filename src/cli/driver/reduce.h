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

// to = a op b, and also = the same; `also` may be null. `bytes`: whole elements.
void combine(const Reduction& reduction, std::byte* to, std::byte* also, const std::byte* a,
             const std::byte* b, std::size_t bytes);
void copy_bytes(std::byte* to, std::byte* also, const std::byte* from, std::size_t bytes);

// Elements of a partial sum that were replaced by zeros: runs of at least 32, as no packet is
// shorter and no run of ours is so long by chance.
std::uint64_t count_lost(const float* arrived, std::size_t count);

}  // namespace dlcp::cli
