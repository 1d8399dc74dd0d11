// How the queue pairs of a link are described to the peer.
#include "datapath/verbs/placement/links/introduction.h"

#include "../../../catch.h"

namespace dlcp::datapath::test {
namespace {

LinkDescription example() {
  LinkDescription link;
  link.mtu = 5;
  link.receives_per_path = 448;
  link.classes[1] = {{17, true}, {0xabcdef, false}};
  link.classes[6] = {{3, true}};
  return link;
}

TEST_CASE("an introduction has the queue pairs of every class, and which of them are connected") {
  const auto decoded = decode_introduction(encode(example()).view());
  REQUIRE(decoded.has_value());
  CHECK(decoded->transport == PlacementTransport::kUc);
  CHECK(decoded->mtu == 5);
  CHECK(decoded->receives_per_path == 448);
  REQUIRE(decoded->classes[1].size() == 2);
  CHECK(decoded->classes[1][0].queue_pair == 17);
  CHECK(decoded->classes[1][0].is_connected);
  CHECK(decoded->classes[1][1].queue_pair == 0xabcdef);
  CHECK_FALSE(decoded->classes[1][1].is_connected);
  REQUIRE(decoded->classes[6].size() == 1);
  CHECK(decoded->classes[0].empty());
}

TEST_CASE("the largest link fits into an introduction") {
  LinkDescription link = example();
  link.classes = {};
  for (std::size_t path = 0; path < kPathsPerLinkMax; ++path)
    link.classes[path % kTrafficClassCount].push_back({static_cast<std::uint32_t>(path), true});
  const Introduction introduction = encode(link);
  CHECK(introduction.size <= Introduction::kMaxBytes);
  CHECK(decode_introduction(introduction.view()).has_value());
}

TEST_CASE("a damaged introduction is rejected or describes a valid link") {
  const Introduction good = encode(example());
  for (std::size_t bytes = 0; bytes < good.size; ++bytes)
    CHECK_FALSE(decode_introduction(good.view().first(bytes)).has_value());
  Introduction longer = good;
  ++longer.size;
  CHECK_FALSE(decode_introduction(longer.view()).has_value());
  for (std::size_t at = 0; at < good.size; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Introduction changed = good;
      changed.bytes[at] = static_cast<std::byte>(value);
      const auto decoded = decode_introduction(changed.view());
      if (!decoded) continue;
      const Introduction again = encode(*decoded);
      CHECK((at < 6 || again.size == good.size));
    }
  }
}

}  // namespace
}  // namespace dlcp::datapath::test
