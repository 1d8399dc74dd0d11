// The description of a call that each rank sends to every hub that owns blocks of the call, before
// its contributions, since a hub receives no calls from NCCL. It uses the results lane, which
// carries no other messages from ranks to hubs. The last message only announces that the rank
// leaves.
//
// Layout, little-endian: magic (4 bytes), type (1), operation (1), leaves (1), zero (1), call (8),
// bytes (8), real bytes (8), tensor (8).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collective/reduce/element.h"

namespace dlcp::collective {

struct HubCall {
  static constexpr std::size_t kBytes = 40;
  static constexpr std::uint64_t kCallBytesMax = std::uint64_t{1} << 40;
  using Bytes = std::array<std::byte, kBytes>;

  std::uint64_t call = 0;
  std::uint64_t bytes = 0;       // size of the call: whole elements, 1 .. kCallBytesMax
  std::uint64_t real_bytes = 0;  // part of `bytes` that is data, as far as the rank knows
  std::uint64_t tensor = 0;      // 1 + the number of the tensor's first call; 0 if unknown
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  bool leaves = false;  // the rank leaves; the other fields are unused

  // True if two ranks describe the same call. They may differ in how much of it is known to be
  // data.
  bool same_call(const HubCall& other) const {
    return call == other.call && bytes == other.bytes && type == other.type && op == other.op;
  }
};

HubCall::Bytes encode(const HubCall& call);
// Returns nullopt for bytes that encode() does not produce.
std::optional<HubCall> decode_hub_call(std::span<const std::byte> bytes);

}  // namespace dlcp::collective
