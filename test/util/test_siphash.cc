#include <array>

#include "catch.h"
#include "util/siphash.h"

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
