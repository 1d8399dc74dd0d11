// A cipher for tests of the protocol: it is not secure, but it detects wrong nonces and changed
// bytes like a real one, and throws if a nonce is used twice.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "util/hash/siphash.h"
#include "wire/codec.h"
#include "wire/data/cipher.h"

namespace dlcp::test {

class ToyCiphers final : public wire::CipherSource {
 public:
  std::unique_ptr<wire::Cipher> make(const wire::Key& key) const override;
  std::size_t sealed() const { return nonces_->size(); }

 private:
  using Nonces = std::set<std::pair<std::uint64_t, wire::Nonce>>;  // by key
  class Toy;
  std::shared_ptr<Nonces> nonces_ = std::make_shared<Nonces>();
};

class ToyCiphers::Toy final : public wire::Cipher {
 public:
  Toy(const wire::Key& key, std::shared_ptr<Nonces> nonces)
      : key_(key), nonces_(std::move(nonces)) {}

  void seal(const wire::Nonce& nonce, std::span<const std::byte> header,
            std::span<const std::byte> plain, std::span<std::byte> out) override {
    if (!nonces_->emplace(key_.low, nonce).second) throw std::logic_error("a nonce came twice");
    cover(nonce, plain, out);
    write_tag(nonce, header, out.first(plain.size()), out.last(wire::kCipherTagBytes));
  }

  bool open(const wire::Nonce& nonce, std::span<const std::byte> header,
            std::span<const std::byte> sealed, std::span<std::byte> out) override {
    const auto body = sealed.first(out.size());
    std::array<std::byte, wire::kCipherTagBytes> tag;
    write_tag(nonce, header, body, tag);
    cover(nonce, body, out);
    return std::ranges::equal(tag, sealed.last(tag.size()));
  }

 private:
  std::uint64_t hash(const wire::Nonce& nonce, std::uint64_t part,
                     std::span<const std::byte> bytes) const {
    SipHash<1, 3> hash(key_);
    hash.add(part);
    hash.add(wire::load_le<std::uint64_t>(nonce.data() + 4));
    hash.add(std::to_integer<std::uint64_t>(nonce[0]));
    hash.add_last(bytes);
    return hash.finish();
  }
  void cover(const wire::Nonce& nonce, std::span<const std::byte> in,
             std::span<std::byte> out) const {
    const std::uint64_t mask = hash(nonce, 1, {});
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = in[i] ^ static_cast<std::byte>((mask | 1) >> (8 * (i % 8)));
  }
  void write_tag(const wire::Nonce& nonce, std::span<const std::byte> header,
                 std::span<const std::byte> body, std::span<std::byte> tag) const {
    wire::store_le(tag.data(), hash(nonce, 2, header));
    wire::store_le(tag.data() + 8, hash(nonce, 3, body));
  }

  const wire::Key key_;
  const std::shared_ptr<Nonces> nonces_;
};

inline std::unique_ptr<wire::Cipher> ToyCiphers::make(const wire::Key& key) const {
  return std::make_unique<Toy>(key, nonces_);
}

}  // namespace dlcp::test
