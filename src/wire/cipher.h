// Payloads that nobody on the way can read (Protection::kEncrypted): authenticated encryption, one
// cipher per connection. On the wire the sealed payload is as long as the plain one, and a tag
// follows. The header stays readable, has its own tag, and is authenticated along with the payload.
//
// A nonce must never come twice under one key. Keys are of one direction of one connection; the
// nonce is the path and the 64-bit number of the packet on that path, which every packet has for
// itself, one that is sent again too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "wire/codec.h"
#include "wire/data_header.h"
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
  // Fills `out`, kCipherTagBytes longer than `plain`. Never with anything readable: should the
  // cipher fail, what it leaves is refused by the peer.
  virtual void seal(const Nonce& nonce, std::span<const std::byte> header,
                    std::span<const std::byte> plain, std::span<std::byte> out) = 0;
  // False if the two are not what the peer has sealed; `out`, kCipherTagBytes shorter than
  // `sealed`, is then to be thrown away.
  virtual bool open(const Nonce& nonce, std::span<const std::byte> header,
                    std::span<const std::byte> sealed, std::span<std::byte> out) = 0;
};

// Where ciphers come from; outlives them.
class CipherSource {
 public:
  virtual ~CipherSource() = default;
  // `key`: see payload_key. Null if there is no memory.
  virtual std::unique_ptr<Cipher> make(const Key& key) const = 0;
};

// What a data packet has beside its payload.
constexpr std::size_t overhead_bytes(Protection protection) {
  return kDataHeaderBytes + (protection == Protection::kEncrypted ? kCipherTagBytes : 0);
}

}  // namespace dlcp::wire
