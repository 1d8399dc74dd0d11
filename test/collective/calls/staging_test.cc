#include "collective/calls/staging.h"

#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using collective::Staging;

TEST_CASE("staging is released in order and never allocated twice") {
  std::vector<std::byte> memory(1000);
  Staging staging(memory);
  Rng rng(1);
  std::deque<std::span<std::byte>> held;
  std::size_t refused = 0, wrapped = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (rng.chance(0.5) && !held.empty()) {
      staging.give_back();
      held.pop_front();
      continue;
    }
    const std::size_t bytes = 1 + rng.below(rng.chance(0.1) ? 1000 : 200);
    const auto piece = staging.take(bytes);
    if (!piece) {
      ++refused;
      REQUIRE(!held.empty());  // in an empty one every valid size fits
      continue;
    }
    REQUIRE(piece->size() == bytes);
    REQUIRE(piece->data() >= memory.data());
    REQUIRE(piece->data() + bytes <= memory.data() + memory.size());
    for (const auto& other : held) {
      REQUIRE((piece->data() >= other.data() + other.size() ||
               other.data() >= piece->data() + piece->size()));
    }
    wrapped += !held.empty() && piece->data() < held.back().data();
    held.push_back(*piece);
  }
  CHECK(refused > 1000);
  CHECK(wrapped > 1000);
}

TEST_CASE("a request larger than the staging is refused, empty or not") {
  std::vector<std::byte> memory(100);
  Staging staging(memory);
  CHECK_FALSE(staging.take(101));
  CHECK(staging.take(100));
  CHECK_FALSE(staging.take(1));
  staging.give_back();
  CHECK(staging.take(1));
}
