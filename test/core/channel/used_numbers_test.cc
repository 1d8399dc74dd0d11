#include "core/channel/used_numbers.h"

#include "catch.h"

using dlcp::core::UsedNumbers;

TEST_CASE("each number is used once, in any order, however late it comes") {
  UsedNumbers numbers;
  REQUIRE(numbers.use(7));
  for (std::uint64_t number = 10; number < 5000; ++number)
    REQUIRE(numbers.use(number));
  CHECK(numbers.use(8));
  CHECK_FALSE(numbers.use(8));
  CHECK_FALSE(numbers.use(4000));
  CHECK(numbers.use(9));
  for (std::uint64_t number = 1; number < 5000; ++number)
    REQUIRE_FALSE(numbers.use(number));
  CHECK(numbers.use(5000));
}

TEST_CASE("a number that never comes is given up after 65,536 later ones") {
  UsedNumbers numbers;
  REQUIRE(numbers.use(0x10));
  for (std::uint64_t number = 0x12; number <= 65537 + 0x10; ++number)
    REQUIRE(numbers.use(number));
  REQUIRE(numbers.use(65538 + 0x10));
  CHECK_FALSE(numbers.use(0x11));
  CHECK_FALSE(numbers.use(65538 + 0x10));
  CHECK(numbers.use(65539 + 0x10));
}
