// Samples a few blocks of a message to find out its format and how much compression would save.
#pragma once

#include <optional>
#include <span>

#include "compression/format.h"

namespace dlcp::compression {

inline constexpr std::size_t kSampleBlocks = 8;
inline constexpr std::size_t kSampleBlockBytes = 1024;

struct Sample {
  Format format = Format::kBfloat16;
  double ratio = 1;  // bytes of the message per byte on the wire; 1: nothing is saved
  // False if all bytes that were read are zero: the format may then be any other.
  bool typed = true;
};

// Encodes eight blocks of 1 KiB that are spread evenly over `message` (all of it if it is shorter),
// as `known`, or else as each of bf16, fp16 and fp32, and returns the best. Formats of 8 bits are
// tried only if known: any bytes with a common sign resemble them a little.
// Gradients of an embedding table are mostly zero. If all eight blocks are, the format is found
// from other blocks, that are not zero; the ratio is still that of the eight.
Sample sample(std::span<const std::byte> message, std::optional<Format> known);

}  // namespace dlcp::compression
