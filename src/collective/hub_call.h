// What each rank tells every hub that owns blocks of a call, ahead of its contributions: a hub has
// no call of its own to know it from. It goes the way that results come, where nothing else does.
// The last says that the rank leaves, and nothing more.
//
// Layout, little-endian: magic (4), type (1), operation (1), leaves (1), zero (1), call (8), bytes
// (8), real bytes (8), tensor (8).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collective/element.h"

namespace dlcp::collective {

struct HubCall {
  static constexpr std::size_t kBytes = 40;
  static constexpr std::uint64_t kCallBytesMax = std::uint64_t{1} << 40;
  using Bytes = std::array<std::byte, kBytes>;

  std::uint64_t call = 0;
  std::uint64_t bytes = 0;       // of the call: whole elements, 1 .. kCallBytesMax
  std::uint64_t real_bytes = 0;  // of them, as far as the rank knows; not more
  std::uint64_t tensor = 0;      // 1 + the first of the calls that it is a part of; 0: none
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  bool leaves = false;  // and the rest says nothing

  // Whether two ranks mean the same call; they may know differently how much of it is data.
  bool same_call(const HubCall& other) const {
    return call == other.call && bytes == other.bytes && type == other.type && op == other.op;
  }
};

HubCall::Bytes encode(const HubCall& call);
// nullopt for what encode() has not made.
std::optional<HubCall> decode_hub_call(std::span<const std::byte> bytes);

}  // namespace dlcp::collective
