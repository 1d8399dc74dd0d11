#include "cli/bench/contribution.h"

#include <set>

#include "catch.h"

using dlcp::cli::contribution;

TEST_CASE("A part of a rank's contribution is the same whichever way it is cut out") {
  const auto whole = contribution(7, 3, 0, 100);
  for (const std::size_t first : {0u, 1u, 7u, 8u, 50u}) {
    const auto part = contribution(7, 3, first, 33);
    CHECK(part ==
          std::vector<std::int8_t>(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                   whole.begin() + static_cast<std::ptrdiff_t>(first + 33)));
  }
  CHECK(contribution(7, 3, 5, 0).empty());
}

TEST_CASE("Contributions differ by rank and by seed") {
  CHECK(std::set{contribution(7, 3, 0, 100), contribution(7, 4, 0, 100), contribution(8, 3, 0, 100)}
            .size() == 3);
}
