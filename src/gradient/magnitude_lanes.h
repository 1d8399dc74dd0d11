// The magnitudes of all packets of a message in the form for a GPU: kSums threads share a packet.
// They add in the order of sum_portable(), so the results are equal bit for bit. magnitude.cu runs
// these functions on a GPU, and the tests on the processor.
#pragma once

#include "gradient/magnitude_sum.h"

namespace dlcp::gradient {

inline constexpr unsigned kPacketsPerBlock = 32;  // 256 threads

// A message that is cut into packets of equal size; the last one may be shorter. `message` is
// aligned to the elements, and packet_bytes is a multiple of their size and not 0.
struct CutMessage {
  const std::byte* message = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t packet_bytes = 0;

  DLCP_ALSO_ON_GPU std::uint64_t packets() const {
    return (bytes + packet_bytes - 1) / packet_bytes;
  }
  DLCP_ALSO_ON_GPU const std::byte* packet(std::uint64_t index) const {
    return message + index * packet_bytes;
  }
  DLCP_ALSO_ON_GPU std::uint32_t bytes_of(std::uint64_t index) const {
    const std::uint64_t left = bytes - index * packet_bytes;
    return left < packet_bytes ? static_cast<std::uint32_t>(left) : packet_bytes;
  }
};

// The part of one thread, `lane` 0 .. kSums - 1.
template <ElementType type>
DLCP_ALSO_ON_GPU float lane_sum(const CutMessage& cut, std::uint64_t packet, unsigned lane) {
  constexpr std::size_t kBytes = element_bytes(type);
  const std::byte* at = cut.packet(packet) + lane * kBytes;
  float sum = 0;
  for (std::size_t left = cut.bytes_of(packet) / kBytes; left >= kSums; left -= kSums) {
    sum += magnitude_at<type>(static_cast<const std::byte*>(__builtin_assume_aligned(at, kBytes)));
    at += kSums * kBytes;
  }
  return sum;
}

// The packet's mean_magnitude(), from the parts of all lanes.
template <ElementType type>
DLCP_ALSO_ON_GPU float mean_of_lanes(const CutMessage& cut, std::uint64_t packet,
                                     const float* parts) {
  constexpr std::size_t kBytes = element_bytes(type);
  const std::size_t bytes = cut.bytes_of(packet);
  if (bytes % kBytes != 0) return kPriceless;
  const std::size_t count = bytes / kBytes;
  const std::size_t rest = count % kSums;
  return mean_of(add_up<type>(cut.packet(packet) + (count - rest) * kBytes, rest, parts), count);
}

}  // namespace dlcp::gradient
