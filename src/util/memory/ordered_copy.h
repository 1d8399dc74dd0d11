// The copy that places received bytes into a posted buffer while a GPU may already poll flags in
// it. NCCL's LL protocol has a flag in every 8 bytes, LL128 one in the last 8 bytes of every 128.
// The order and width of stores is therefore part of correctness, and memcpy, which guarantees
// neither, cannot be used. Lines are counted from `destination`: callers cut messages at multiples
// of 128 bytes.
#pragma once

#include <cstddef>

namespace dlcp {

// Copies `bytes` bytes; the ranges must not overlap.
// - Addresses ascend, each byte is stored once, and nothing is stored beyond the end.
// - The last 8 bytes of each whole 128-byte line become visible after all others of the line.
// - An aligned group of 8 bytes is never torn.
void ordered_copy(std::byte* destination, const std::byte* source, std::size_t bytes);

// All implementations, for tests and measurements. `supported` depends on the processor.
struct OrderedCopyForm {
  const char* name;
  void (*copy)(std::byte* destination, const std::byte* source, std::size_t bytes);
  bool supported;
};
struct OrderedCopyForms {
  const OrderedCopyForm* first;
  std::size_t count;
};
OrderedCopyForms ordered_copy_forms();

}  // namespace dlcp
