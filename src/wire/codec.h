// Little-endian cursors over bytes. After reading past the end, a Reader stays failed and returns
// zeros, so that decoders read all fields first and check once.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace dlcp::wire {

template <std::unsigned_integral T>
inline void store_le(std::byte* at, T value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(at, &value, sizeof value);  // compilers do not optimise the loop
    return;
  }
  for (std::size_t i = 0; i < sizeof(T); ++i)
    at[i] = static_cast<std::byte>(value >> (8 * i));
}

template <std::unsigned_integral T>
inline T load_le(const std::byte* at) {
  T value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(at[i]) << (8 * i)));
  return value;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <std::unsigned_integral T>
  T get() {
    if (left_.size() < sizeof(T)) return fail<T>();
    const T value = load_le<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }

  // The next `size` bytes; empty (and failed) if there are fewer.
  std::span<const std::byte> get_bytes(std::size_t size) {
    if (left_.size() < size) return fail<std::span<const std::byte>>();
    const auto bytes = left_.first(size);
    left_ = left_.subspan(size);
    return bytes;
  }

  // One length byte, then that many characters. The text comes from a peer and is logged, so
  // characters other than printable ASCII become '?'.
  std::string get_text() {
    const auto bytes = get_bytes(get<std::uint8_t>());
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
  }

  bool ok() const { return ok_; }
  std::size_t left() const { return left_.size(); }

 private:
  template <class T>
  T fail() {
    ok_ = false;
    left_ = {};
    return T{};
  }

  std::span<const std::byte> left_;
  bool ok_ = true;
};

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  template <std::unsigned_integral T>
  void put(T value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(T));
    store_le(out_.data() + at, value);
  }

  void put_bytes(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  // Truncates at `max` characters (at most 255).
  void put_text(const std::string& text, std::size_t max) {
    const std::size_t size = std::min({text.size(), max, std::size_t{255}});
    put(static_cast<std::uint8_t>(size));
    put_bytes(std::as_bytes(std::span(text.data(), size)));
  }

 private:
  std::vector<std::byte>& out_;
};

}  // namespace dlcp::wire
