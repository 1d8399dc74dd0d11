// The checksum against the vectors of RFC 3720, and the processor's instruction against the table.
#include "util/hash/crc32c.h"

#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;

namespace {

std::vector<std::byte> filled(std::size_t bytes, int first, int step) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(first + step * static_cast<int>(i));
  return data;
}

}  // namespace

TEST_CASE("the vectors of RFC 3720, appendix B.4", "[crc32c]") {
  for (const auto crc : {+[](std::span<const std::byte> data) { return crc32c(data); },
                         +[](std::span<const std::byte> data) { return crc32c_portable(data); }}) {
    CHECK(crc(filled(32, 0x00, 0)) == 0x8a9136aau);
    CHECK(crc(filled(32, 0xff, 0)) == 0x62a8ab43u);
    CHECK(crc(filled(32, 0, 1)) == 0x46dd794eu);
    CHECK(crc(filled(32, 31, -1)) == 0x113fdb5cu);
  }
}

TEST_CASE("every length and alignment gives the table's result, in one piece or two", "[crc32c]") {
  Rng rng(11);
  std::vector<std::byte> data(96);
  for (std::byte& byte : data)
    byte = static_cast<std::byte>(rng.below(256));
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t bytes = 0; bytes <= 80; ++bytes) {
      const auto part = std::span<const std::byte>(data).subspan(from, bytes);
      const std::uint32_t expected = crc32c_portable(part);
      const std::size_t cut = bytes == 0 ? 0 : rng.below(bytes + 1);
      const bool right = crc32c(part) == expected &&
                         crc32c(part.subspan(cut), crc32c(part.first(cut))) == expected;
      INFO(bytes << " bytes from " << from << ", cut at " << cut);
      if (!right) FAIL("differs");
    }
  }
  SUCCEED();
}
