// The GPU's work between two slices of a ring all-reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/reduce/element.h"

namespace dlcp::cli {

// The operation of an all-reduce and the type of its elements.
struct Reduction {
  collective::DataType type = collective::DataType::kFloat32;
  collective::ReduceOp op = collective::ReduceOp::kSum;

  std::size_t element_bytes() const { return collective::bytes_of(type); }
};

// The names on the command line: f32, bf16, i8, u64; sum, prod, max, min.
const char* name_of(collective::DataType type);
const char* name_of(collective::ReduceOp op);

// Writes a op b to `to` and, unless it is null, to `also`. `bytes`: a multiple of the element's
// size.
void combine(const Reduction& reduction, std::byte* to, std::byte* also, const std::byte* a,
             const std::byte* b, std::size_t bytes);
void copy_bytes(std::byte* to, std::byte* also, const std::byte* from, std::size_t bytes);

// The number of elements of a partial sum that were replaced by zeros. Counts runs of at least 32
// zeros: no packet is shorter, and data have no such runs.
std::uint64_t count_lost(const float* arrived, std::size_t count);

}  // namespace dlcp::cli
