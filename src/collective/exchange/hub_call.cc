#include "collective/exchange/hub_call.h"

namespace dlcp::collective {
namespace {

constexpr std::uint64_t kMagic = 0x63'62'75'68;  // "hubc"

void put(std::span<std::byte> to, std::uint64_t value) {
  for (std::byte& byte : to) {
    byte = static_cast<std::byte>(value);
    value >>= 8;
  }
}

std::uint64_t get(std::span<const std::byte> from) {
  std::uint64_t value = 0;
  for (std::size_t i = from.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  return value;
}

}  // namespace

HubCall::Bytes encode(const HubCall& call) {
  HubCall::Bytes bytes{};
  const std::span<std::byte> out(bytes);
  put(out.subspan(0, 4), kMagic);
  bytes[4] = static_cast<std::byte>(call.type);
  bytes[5] = static_cast<std::byte>(call.op);
  bytes[6] = std::byte{call.leaves};
  put(out.subspan(8, 8), call.call);
  put(out.subspan(16, 8), call.bytes);
  put(out.subspan(24, 8), call.real_bytes);
  put(out.subspan(32, 8), call.tensor);
  return bytes;
}

std::optional<HubCall> decode_hub_call(std::span<const std::byte> bytes) {
  if (bytes.size() != HubCall::kBytes || get(bytes.first(4)) != kMagic ||
      get(bytes.subspan(6, 2)) > 1)
    return std::nullopt;
  HubCall read;
  read.type = static_cast<DataType>(bytes[4]);
  read.op = static_cast<ReduceOp>(bytes[5]);
  read.call = get(bytes.subspan(8, 8));
  read.bytes = get(bytes.subspan(16, 8));
  read.real_bytes = get(bytes.subspan(24, 8));
  read.tensor = get(bytes.subspan(32, 8));
  read.leaves = bytes[6] != std::byte{0};
  if (read.leaves) return read;
  if (!can_reduce(read.type, read.op) || read.bytes == 0 || read.bytes > HubCall::kCallBytesMax ||
      read.bytes % bytes_of(read.type) != 0 || read.real_bytes > read.bytes ||
      read.tensor > read.call + 1 || read.call == ~std::uint64_t{0})
    return std::nullopt;
  return read;
}

}  // namespace dlcp::collective
