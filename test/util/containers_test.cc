// Boundary cases of the containers in util/: an index out of range breaks an invariant, in every
// build.
#include "catch.h"
#include "util/memory/bitmap.h"
#include "util/memory/ring_queue.h"

using namespace dlcp;

TEST_CASE("a queue keeps its order while it grows and wraps, and releases popped elements") {
  RingQueue<int> queue;
  int next = 0;
  int oldest = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i)
      queue.push_back(next++);
    queue.pop_front();
    ++oldest;
    REQUIRE(queue.size() == static_cast<std::size_t>(next - oldest));
    for (std::size_t i = 0; i < queue.size(); ++i)
      REQUIRE(queue[i] == oldest + static_cast<int>(i));
    REQUIRE(queue.back() == next - 1);
  }
  queue.clear();
  CHECK(queue.empty());
}

TEST_CASE("an index beyond a queue breaks an invariant, even if it is within the allocation") {
  RingQueue<int> queue;
  CHECK_THROWS_AS(queue.front(), BrokenInvariant);
  CHECK_THROWS_AS(queue.pop_front(), BrokenInvariant);
  queue.push_back(1);
  CHECK(queue[0] == 1);
  CHECK_THROWS_AS(queue[1], BrokenInvariant);
  CHECK_THROWS_AS(queue[SIZE_MAX], BrokenInvariant);
}

TEST_CASE("a bitmap reports new bits, and finds set and clear ones") {
  Bitmap bits;
  bits.reset(130);
  CHECK(bits.set(129));
  CHECK_FALSE(bits.set(129));
  CHECK(bits.next_set(0) == 129);
  CHECK(bits.merge(2, ~std::uint64_t{0}) ==
        1);  // of bits 128 to 191 two exist, and one of them is set
  CHECK(bits.next_clear(128) == 130);
  bits.clear(128);
  CHECK(bits.next_clear(128) == 128);
}

TEST_CASE("a bit beyond a bitmap breaks an invariant, even if its word exists") {
  Bitmap bits;
  CHECK_THROWS_AS(bits.test(0), BrokenInvariant);
  bits.reset(100);
  CHECK_FALSE(bits.test(99));
  CHECK_THROWS_AS(bits.test(100), BrokenInvariant);
  CHECK_THROWS_AS(bits.set(127), BrokenInvariant);
  CHECK_THROWS_AS(bits.clear(128), BrokenInvariant);
  CHECK_THROWS_AS(bits.merge(2, 1), BrokenInvariant);
}
