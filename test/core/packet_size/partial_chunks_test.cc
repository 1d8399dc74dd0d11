// Chunks that arrive in pieces: which bytes of each piece are new, whatever overlaps.
#include "core/packet_size/partial_chunks.h"

#include <algorithm>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using core::is_piece;
using core::PartialChunks;

TEST_CASE("a piece begins at a granule and ends at one, or at the chunk's end") {
  REQUIRE(is_piece(0, 128, 1000));
  REQUIRE(is_piece(896, 1000, 1000));
  REQUIRE_FALSE(is_piece(896, 1000, 1001));
  REQUIRE_FALSE(is_piece(64, 128, 1000));
  REQUIRE_FALSE(is_piece(128, 128, 1000));
  REQUIRE_FALSE(is_piece(0, 1024, 1000));
}

TEST_CASE("a chunk is complete once its pieces have arrived, in any order") {
  PartialChunks partial;
  REQUIRE(partial.add(3, 1000, 512, 1000).size() == 1);
  REQUIRE_FALSE(partial.whole(3));
  const auto fresh = partial.add(3, 1000, 0, 640);
  REQUIRE(fresh.size() == 1);
  REQUIRE(fresh[0].begin == 0);
  REQUIRE(fresh[0].end == 512);
  REQUIRE(partial.whole(3));
  partial.erase(3);
  REQUIRE_FALSE(partial.contains(3));
}

TEST_CASE("no byte of a chunk counts as new twice") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto bytes = static_cast<std::uint32_t>(1 + rng.below(8832));
    const auto granules = (bytes + 127) / 128;
    std::vector<int> written(bytes);
    PartialChunks partial;
    while (!partial.whole(7)) {
      const auto first = static_cast<std::uint32_t>(rng.below(granules));
      const auto last = static_cast<std::uint32_t>(first + 1 + rng.below(granules - first));
      for (const auto& run : partial.add(7, bytes, first * 128, std::min(last * 128, bytes)))
        for (std::size_t at = run.begin; at < run.end; ++at)
          ++written[at];
      std::size_t missing = 0;
      for (const auto& run : partial.missing(7, bytes))
        for (std::size_t at = run.begin; at < run.end; ++at)
          missing += written[at] == 0 ? 1 : bytes;
      REQUIRE(missing == static_cast<std::size_t>(std::count(written.begin(), written.end(), 0)));
    }
    REQUIRE(std::all_of(written.begin(), written.end(), [](int times) { return times == 1; }));
  }
}
