// Shared parts of all fuzz targets: reading numbers and bytes from an input, and reporting an
// error. See fuzz.cmake for how to add a target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Optional: valid inputs, which the replay mutates.
std::vector<std::string> fuzz_seeds() __attribute__((weak));

namespace dlcp::test {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz target: not so: %s\n", what);
  std::abort();
}

// Reads an input from its beginning; all values past the end are zero.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const std::byte*>(data), size) {}

  bool empty() const { return left_.empty(); }

  template <class T>
  requires std::is_integral_v<T> T take() {
    if constexpr (std::is_same_v<T, bool>) {
      return take<std::uint8_t>() % 2 == 1;
    } else {
      T value{};
      const auto bytes = take_bytes(sizeof(T));
      if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
      return value;
    }
  }

  // 0 .. bound - 1.
  std::size_t below(std::size_t bound) { return take<std::uint16_t>() % bound; }

  // At most `size` bytes, fewer at the end.
  std::span<const std::byte> take_bytes(std::size_t size) {
    const auto bytes = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(bytes.size());
    return bytes;
  }

  std::string take_text(std::size_t size) {
    const auto bytes = take_bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace dlcp::test
