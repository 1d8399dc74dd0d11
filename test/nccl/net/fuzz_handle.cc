// Handles come from other ranks, of any plugin and version: raw bytes, and bytes with corrected
// magic, versions and checksum.
#include "fuzz_input.h"
#include "nccl/net/handle.h"
#include "util/hash/crc32c.h"
#include "wire/frame_head.h"

using namespace dlcp;
using dlcp::test::require;

namespace {

using Bytes = std::array<std::byte, nccl::kHandleBytes>;

void decode(const Bytes& bytes) {
  const auto handle = nccl::decode_handle(bytes);
  if (!handle.ok()) {
    require(handle.error().code == ErrorCode::kInvalidUsage && !handle.error().hint.empty(),
            "a refusal has a hint");
    return;
  }
  require(handle.value().address.size <= wire::EndpointAddress::kMaxBytes, "an address fits");
  Bytes again;
  nccl::encode_handle(handle.value(), again);
  auto back = nccl::decode_handle(again);
  require(back.ok() && back->listener == handle.value().listener &&
              back->secret_fingerprint == handle.value().secret_fingerprint &&
              back->address == handle.value().address,
          "an accepted handle encodes to an equivalent one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes{};
  std::memcpy(bytes.data(), data, std::min(size, bytes.size()));
  decode(bytes);
  std::memcpy(bytes.data(), "DLCPnet", 8);
  bytes[8] = std::byte{6};
  bytes[9] = std::byte{wire::kWireVersion};
  const std::uint32_t crc = crc32c(std::span(bytes).first(124));
  for (std::size_t i = 0; i < 4; ++i)
    bytes[124 + i] = static_cast<std::byte>(crc >> (8 * i));
  decode(bytes);
  std::memcpy(bytes.data(), "DLCPnot", 8);
  decode(bytes);
  return 0;
}
