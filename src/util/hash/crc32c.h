// CRC-32C (Castagnoli, RFC 3720 appendix B.4), with the processor's instruction where it has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlcp {

// `crc` continues an earlier result over the preceding bytes; 0 starts a new one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

// The table-driven form that every processor can run; tests compare the other form with it.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace dlcp
