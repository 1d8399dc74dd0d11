#include <array>
#include <cstring>
#include <vector>

#include "catch.h"
#include "util/hash/siphash.h"
#include "util/hash/siphash_lanes.h"

using namespace dlcp;

namespace {

std::array<std::byte, 64> counting() {
  std::array<std::byte, 64> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

}  // namespace

TEST_CASE("SipHash-2-4 gives the value in its paper's appendix") {
  const auto bytes = counting();
  CHECK(siphash24({0x0706050403020100u, 0x0f0e0d0c0b0a0908u}, std::span(bytes).first(15)) ==
        0xa129ca6149be45e5u);
}

TEST_CASE("SipHash-1-3 gives the same values as another implementation") {
  const auto bytes = counting();
  // hash(bytes(range(n))) in CPython 3.11 with PYTHONHASHSEED=0, which means a zero key.
  const std::pair<std::size_t, std::uint64_t> expected[] = {
      {1, 0x68a914128e01e473u},  {7, 0x2f098ab0c751325au},  {8, 0xead411e67ebe2eeau},
      {15, 0xf30eb725bb91c9eau}, {36, 0xac77921fcc642bd3u}, {63, 0x385d3e39e5f37359u}};
  for (const auto& [size, value] : expected) {
    INFO(size << " bytes");
    CHECK(siphash13({}, std::span(bytes).first(size)) == value);
  }
}

TEST_CASE("four messages side by side have the same hashes as one by one") {
  const SipKey key{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  for (std::size_t bytes = 0; bytes < 48; ++bytes) {
    const std::size_t count = bytes / 8 + 1;
    std::vector<std::uint64_t> words(count * kSipLanes);
    std::array<std::uint64_t, kSipLanes> expected{};
    for (std::size_t lane = 0; lane < kSipLanes; ++lane) {
      std::vector<std::byte> message(count * 8);
      for (std::size_t i = 0; i < bytes; ++i)
        message[i] = static_cast<std::byte>(17 * i + 5 * lane + bytes);
      expected[lane] = siphash13(key, std::span(message).first(bytes));
      message.back() = static_cast<std::byte>(bytes);
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(&words[i * kSipLanes + lane], &message[i * 8], 8);
    }
    INFO(bytes << " bytes");
    std::array<std::uint64_t, kSipLanes> hashes{};
    siphash13_lanes(key, words.data(), count, hashes.data());
    CHECK(hashes == expected);
    siphash13_lanes_portable(key, words.data(), count, hashes.data());
    CHECK(hashes == expected);
  }
}
