// Numbers of which packets carry the low 32 bits (messages, path sequences), and which have 64 bits
// at both ends, so that they never wrap.
#pragma once

#include <cstdint>

namespace dlcp::wire {

// The 64-bit number nearest to `near` whose low 32 bits are `low` ("nearest" as in RFC 1982).
// Numbers below zero become very large ones, which every window check refuses.
constexpr std::uint64_t expand_serial(std::uint32_t low, std::uint64_t near) {
  const auto difference = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(difference));
}

// The bits of a packet's number that its tag covers although they are not sent, as with IPsec's
// extended sequence numbers (RFC 4303, section 2.2.1). Sender and receiver both know them. Without
// them, a packet recorded 2^31 to 2^32 numbers ago would be accepted as a future one, and the
// window would then refuse the genuine packets. Now a recorded packet expands either to its own
// number, which the window has recorded or is too old, or to a number with other bits here, for
// which the tag is wrong. A data header has zeros where these bits are hashed, between its last
// bytes and its length. Behind a control frame they are one more word, unless they are zero; the
// words of a frame never end in such a word. So different pairs of packet and number hash different
// words, and a tag is as hard to forge as that of another packet. Bits 56 to 63 stay zero: a path
// that carries 10^8 packets per second needs 22 years for 2^56.
inline constexpr std::uint64_t kUnsentBits = 0x00ffffff'00000000;

}  // namespace dlcp::wire
