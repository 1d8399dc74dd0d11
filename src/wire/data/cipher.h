// Payload encryption (Protection::kEncrypted): authenticated encryption with one cipher per
// connection. The sealed payload is as long as the plain one and is followed by a tag. The header
// stays readable, has its own tag, and is authenticated together with the payload.
//
// A nonce must not occur twice under one key. Keys belong to one direction of one connection. The
// nonce consists of the path and the 64-bit number of the packet on that path, which is unique for
// every packet, retransmissions included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "wire/codec.h"
#include "wire/data/data_header.h"
#include "wire/keys.h"

namespace dlcp::wire {

inline constexpr std::size_t kCipherTagBytes = 16;

using Nonce = std::array<std::byte, 12>;
inline Nonce nonce_of(PathIndex path, std::uint64_t number) {
  Nonce nonce{};
  store_le(nonce.data(), std::uint32_t{path});
  store_le(nonce.data() + 4, number);
  return nonce;
}

class Cipher {
 public:
  virtual ~Cipher() = default;
  // Fills `out`, which is kCipherTagBytes longer than `plain`. If the cipher fails, `out` contains
  // nothing readable, and the peer refuses it.
  virtual void seal(const Nonce& nonce, std::span<const std::byte> header,
                    std::span<const std::byte> plain, std::span<std::byte> out) = 0;
  // False if header and payload are not what the peer has sealed; the contents of `out` must then
  // be discarded. `out` is kCipherTagBytes shorter than `sealed`.
  virtual bool open(const Nonce& nonce, std::span<const std::byte> header,
                    std::span<const std::byte> sealed, std::span<std::byte> out) = 0;
};

// Creates ciphers and outlives them.
class CipherSource {
 public:
  virtual ~CipherSource() = default;
  // `key`: see payload_key. Null if there is no memory.
  virtual std::unique_ptr<Cipher> make(const Key& key) const = 0;
};

// Bytes of a data packet in addition to its payload.
constexpr std::size_t overhead_bytes(Protection protection) {
  return kDataHeaderBytes + (protection == Protection::kEncrypted ? kCipherTagBytes : 0);
}

}  // namespace dlcp::wire
