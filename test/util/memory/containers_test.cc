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
    queue.push_back(-1);
    queue.pop_back();
  }
  queue.clear();
  CHECK(queue.empty());
}

TEST_CASE("an index beyond a queue breaks an invariant, even if it is within the allocation") {
  RingQueue<int> queue;
  CHECK_THROWS_AS(queue.front(), BrokenInvariant);
  CHECK_THROWS_AS(queue.pop_front(), BrokenInvariant);
  CHECK_THROWS_AS(queue.pop_back(), BrokenInvariant);
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

TEST_CASE("a run of bits is set if all of it is clear and exists, else nothing changes") {
  for (std::size_t begin = 0; begin < 150; begin += 7) {
    for (std::size_t count = 1; count <= 140; count += 3) {
      INFO("bits " << begin << " to " << begin + count);
      Bitmap bits;
      bits.reset(150);
      REQUIRE(bits.set_run(begin, count) == (begin + count <= 150));
      const bool set = begin + count <= 150;
      for (std::size_t bit = 0; bit < 150; ++bit)
        CHECK(bits.test(bit) == (set && bit >= begin && bit < begin + count));
      for (const std::size_t taken : {begin, begin + count / 2, begin + count - 1}) {
        if (!set) break;
        Bitmap other;
        other.reset(150);
        other.set(taken);
        CHECK_FALSE(other.set_run(begin, count));
        CHECK(other.next_clear(other.next_set(0)) == taken + 1);
        CHECK(other.next_set(taken + 1) == 150);
      }
    }
  }
}

TEST_CASE("64 bits of a bitmap can be read from any bit on") {
  Bitmap bits;
  bits.reset(150);
  for (std::size_t bit = 0; bit < 150; bit += 5)
    bits.set(bit);
  for (std::size_t from = 0; from < 150; ++from)
    for (std::size_t i = 0; i < 64; ++i)
      CHECK(((bits.bits_from(from) >> i) & 1) ==
            static_cast<std::uint64_t>(from + i < 150 && (from + i) % 5 == 0));
  CHECK_THROWS_AS(bits.bits_from(150), BrokenInvariant);
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
