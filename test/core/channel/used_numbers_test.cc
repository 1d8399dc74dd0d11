#include "core/channel/used_numbers.h"

#include "catch.h"

using dlcp::core::UsedNumbers;

TEST_CASE("each number is used once, in any order, however late it comes") {
  UsedNumbers numbers;
  for (std::uint64_t number = 3; number < 5000; ++number)
    REQUIRE(numbers.use(number));
  CHECK(numbers.use(1));
  CHECK_FALSE(numbers.use(1));
  CHECK_FALSE(numbers.use(4000));
  CHECK(numbers.use(2));
  for (std::uint64_t number = 1; number < 5000; ++number)
    REQUIRE_FALSE(numbers.use(number));
  CHECK(numbers.use(5000));
}

TEST_CASE("a number that never comes is given up after 65,536 later ones") {
  UsedNumbers numbers;
  for (std::uint64_t number = 2; number <= 65537; ++number)
    REQUIRE(numbers.use(number));
  REQUIRE(numbers.use(65538));
  CHECK_FALSE(numbers.use(1));
  CHECK_FALSE(numbers.use(65538));
  CHECK(numbers.use(65539));
}
