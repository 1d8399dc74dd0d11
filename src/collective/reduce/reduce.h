// Reduces one block of every rank to one, element by element, in the order in which the inputs are
// given. The same inputs in the same order give the same bits on every machine.
//
// - fp16 and bf16 are accumulated in float32 and rounded once, to nearest even; float32 is
//   accumulated in float32, and float64 in float64. No operations are fused. (If the calling thread
//   flushes subnormals to zero, they are flushed here, too.)
// - Integers wrap around.
// - A NaN result is always the positive quiet NaN without payload.
// - The maximum and minimum are maximumNumber and minimumNumber of IEEE 754-2019, like the fmax and
//   fmin of GPUs that NCCL uses: a number is preferred to a NaN, +0 to -0 in a maximum, and -0 to
//   +0 in a minimum. The result is NaN only if all inputs are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/reduce/element.h"

namespace dlcp::collective {

// out = ((inputs[0] op inputs[1]) op inputs[2]) ..., over the whole elements of `bytes` bytes;
// bytes after the last whole element are not written. No alignment is required. `out` may be one of
// the inputs but must not overlap one in any other way. A single input is copied bit for bit.
// Nothing is written if there are no inputs or if can_reduce() rejects the type or operation. Each
// input is read once, whatever the number of inputs.
void reduce(DataType type, ReduceOp op, std::span<const std::byte* const> inputs, std::size_t bytes,
            std::byte* out);

// Number of inputs with a contribution in each cell of `cell_bytes` bytes (a multiple of 128; the
// last cell may be shorter). Inputs without a contribution hold zeros there.
struct CellCounts {
  std::span<const std::uint16_t> present;  // one per cell, 1 .. inputs.size()
  std::size_t cell_bytes = 0;
};

// The sum of reduce(), scaled for missing contributions: where k of N are present, elements of a
// floating-point type are multiplied by N/k (in float32, or in float64 for that type) before they
// are rounded. A cell with all N contributions is bit for bit equal to reduce()'s result. A cell
// with none, which a rank's own contribution excludes, becomes zeros. Integers are summed without
// scaling, and a single input is copied.
void reduce_scaled(DataType type, std::span<const std::byte* const> inputs, std::size_t bytes,
                   const CellCounts& counts, std::byte* out);

// The implementations behind both functions, for tests and measurements. All give the same bits.
// `supported` depends on the processor. If `counts` is null, the sum is not scaled.
struct ReduceForm {
  const char* name;
  void (*reduce)(DataType type, ReduceOp op, std::span<const std::byte* const> inputs,
                 std::size_t bytes, const CellCounts* counts, std::byte* out);
  bool supported;
};
std::span<const ReduceForm> reduce_forms();  // reduce() uses the last supported one

}  // namespace dlcp::collective
