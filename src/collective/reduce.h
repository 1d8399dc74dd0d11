// Reduces one block of every rank to one: element by element, in the order in which the inputs are
// given, so that equal inputs in equal order make equal bits on every machine.
//
// - Halves and bfloat16 are accumulated in float32 and rounded once, to nearest even; float32 in
//   float32; float64 in float64. Nothing is fused. (A caller whose thread flushes subnormals to
//   zero has them flushed.)
// - Integers wrap around.
// - A NaN that results is the positive quiet one without payload, whatever NaN came in.
// - The maximum and minimum are IEEE 754-2019's maximumNumber and minimumNumber, as a GPU's fmax
//   and fmin that NCCL reduces with: a number wins over a NaN, +0 over -0 in a maximum and -0 over
//   +0 in a minimum; NaN where all inputs are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/element.h"

namespace dlcp::collective {

// out = ((inputs[0] op inputs[1]) op inputs[2]) ..., over `bytes` bytes, a whole number of elements
// (what is left behind the last whole one is not written). Nothing needs alignment. `out` may be
// one of the inputs but must not overlap one otherwise. One input alone is copied bit for bit, none
// writes nothing, and so does a type or an operation that can_reduce() refuses. Memory is gone
// through once, whatever the number of inputs.
void reduce(DataType type, ReduceOp op, std::span<const std::byte* const> inputs, std::size_t bytes,
            std::byte* out);

// How many of the inputs hold a contribution in each cell of `cell_bytes` bytes (a multiple of 128;
// the last cell may be shorter). Inputs without one hold zeros there.
struct CellCounts {
  std::span<const std::uint16_t> present;  // one per cell, 1 .. inputs.size()
  std::size_t cell_bytes = 0;
};

// The sum, as reduce() makes it, made up for contributions that are missing: where k of N are
// present, elements of a floating-point type are multiplied by N/k (as a float32, or float64 for
// that type) before they are rounded. A cell with all N is bit for bit reduce()'s. One with none,
// which a rank's own contribution rules out, becomes zeros. Integers are summed and not scaled, and
// one input alone is copied.
void reduce_scaled(DataType type, std::span<const std::byte* const> inputs, std::size_t bytes,
                   const CellCounts& counts, std::byte* out);

// The forms behind both, for tests and measurements; their results are the same bits. `supported`
// depends on the processor. `counts` null: not scaled.
struct ReduceForm {
  const char* name;
  void (*reduce)(DataType type, ReduceOp op, std::span<const std::byte* const> inputs,
                 std::size_t bytes, const CellCounts* counts, std::byte* out);
  bool supported;
};
std::span<const ReduceForm> reduce_forms();  // the last supported one is what reduce() takes

}  // namespace dlcp::collective
