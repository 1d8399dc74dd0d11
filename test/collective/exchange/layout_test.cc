#include "collective/exchange/layout.h"

#include <set>

#include "catch.h"

using namespace dlcp::collective;

namespace {

Terms terms_of(std::uint32_t ranks) {
  return {.ranks = ranks, .rank = 0, .granule = 1408, .block_bytes_max = 64 << 10};
}

}  // namespace

TEST_CASE("blocks cover a call once, each has one owner, and owners differ by at most one block") {
  for (const std::uint32_t ranks : {2u, 3u, 8u, 64u}) {
    for (const std::size_t bytes : {1u, 4u, 1408u, 1409u, 32u << 10, 1u << 20, 1048579u}) {
      for (const std::uint64_t call : {0u, 1u, 7u, 1000003u}) {
        const Terms terms = terms_of(ranks);
        const Layout layout(terms, call, bytes);
        std::size_t covered = 0;
        std::uint32_t owned = 0, least = ~0u, most = 0;
        for (std::uint32_t block = 0; block < layout.blocks(); ++block) {
          REQUIRE(layout.offset(block) == covered);
          covered += layout.bytes_of(block);
          REQUIRE(layout.bytes_of(block) > 0);
          const std::uint32_t owner = layout.owner(block);
          REQUIRE(owner < ranks);
          REQUIRE((block - layout.first_of(owner)) % ranks == 0);
        }
        REQUIRE(covered == bytes);
        for (std::uint32_t owner = 0; owner < ranks; ++owner) {
          owned += layout.count_of(owner);
          least = std::min(least, layout.count_of(owner));
          most = std::max(most, layout.count_of(owner));
        }
        REQUIRE(owned == layout.blocks());
        REQUIRE(most - least <= 1);
      }
    }
  }
}

TEST_CASE("a block is a whole number of packets, and all owners have equally many blocks") {
  Terms terms = terms_of(8);
  CHECK(Layout::block_bytes(terms, 4) == 1408);
  CHECK(Layout::block_bytes(terms, 32 << 10) == 3 * 1408);
  CHECK(Layout::block_bytes(terms, 128 << 10) == 12 * 1408);  // 16 KiB are 11.6 packets
  CHECK(Layout::block_bytes(terms, 256 << 10) == 12 * 1408);  // two of them
  CHECK(Layout::block_bytes(terms, 160 << 10) == 8 * 1408);   // two, but not 12 and 3 packets
  CHECK(Layout::block_bytes(terms, 1 << 20) == 12 * 1408);    // eight
  CHECK(Layout::block_bytes(terms, 16 << 20) == 46 * 1408);   // 64 KiB are 46.5 packets
  terms.block_bytes_max = 100;                                // less than a packet: a packet
  CHECK(Layout::block_bytes(terms, 1 << 20) == 1408);
}

TEST_CASE("short calls rotate: every rank owns one in turn") {
  const Terms terms = terms_of(5);
  std::set<std::uint32_t> owners;
  for (std::uint64_t call = 0; call < 5; ++call) {
    const Layout layout(terms, call, 4);
    REQUIRE(layout.blocks() == 1);
    owners.insert(layout.owner(0));
  }
  CHECK(owners.size() == 5);
}

TEST_CASE("the data of a block is the part before the end of the data") {
  const Layout layout(terms_of(2), 0, 4096);  // blocks of 2816 and 1280
  CHECK(layout.bytes_within(0, 4096) == 2816);
  CHECK(layout.bytes_within(1, 4096) == 1280);
  CHECK(layout.bytes_within(1, 2816) == 0);
  CHECK(layout.bytes_within(1, 2817) == 1);
  CHECK(layout.bytes_within(0, 4) == 4);
  CHECK(layout.bytes_within(1, 4) == 0);
}

TEST_CASE("if there are hubs they own all blocks, evenly to within one, and ranks none") {
  for (const std::uint32_t hubs : {1u, 2u, 5u}) {
    Terms terms = terms_of(8);
    terms.hubs = hubs;
    for (const std::uint64_t call : {0u, 1u, 7u}) {
      const Layout layout(terms, call, 1 << 20);
      std::uint32_t owned = 0;
      for (std::uint32_t hub = 8; hub < 8 + hubs; ++hub)
        owned += layout.count_of(hub);
      REQUIRE(owned == layout.blocks());
      for (std::uint32_t block = 0; block < layout.blocks(); ++block) {
        REQUIRE(layout.owner(block) >= 8);
        REQUIRE(layout.owner(block) < terms.members());
        REQUIRE((block - layout.first_of(layout.owner(block))) % hubs == 0);
      }
    }
    REQUIRE(Layout(terms, 0, 4).blocks() == 1);
    REQUIRE(Layout(terms, hubs + 1, 4).owner(0) == 8 + 1 % hubs);
  }
}
