// The copy that places received bytes into a posted buffer while a GPU may already poll flags in
// it. NCCL's LL protocol keeps a flag in every 8 bytes and LL128 one in the last 8 bytes of every
// 128, so the order and width of stores is part of correctness and memcpy, which promises neither,
// is no choice. Lines are counted from `destination`: callers cut messages at multiples of 128
// bytes.
#pragma once

#include <cstddef>

namespace dlcp {

// Copies `bytes` bytes; the ranges must not overlap.
// - Addresses ascend, each byte is stored once, nothing beyond the end is stored.
// - The last 8 bytes of each whole 128-byte line become visible after all others of the line.
// - An aligned 8-byte pair is never torn.
void ordered_copy(std::byte* destination, const std::byte* source, std::size_t bytes);

// The forms behind it, for tests and measurements. `supported` depends on the processor.
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
