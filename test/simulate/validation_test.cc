#include "simulate/validation.h"

#include <fmt/format.h>

#include "catch.h"

namespace dlcp::simulate {
namespace {

TEST_CASE("the simulator agrees with closed forms") {
  const auto checks = closed_forms();
  REQUIRE(checks.size() >= 22);
  for (const Check& check : checks) {
    INFO(fmt::format("{}: expected {}, measured {}", check.name, check.expected, check.measured));
    CHECK(check.ok());
  }
}

TEST_CASE("the model of NSCC agrees with the smallest published incast") {
  for (const Check& check : published(true, {})) {
    INFO(fmt::format("{}: expected {}, measured {}", check.name, check.expected, check.measured));
    CHECK(check.ok());
  }
}

TEST_CASE("a check fails beyond its tolerance") {
  const Check exact{"x", "ns", 100, 101, 0, ""};
  const Check close{"x", "ns", 100, 101, 0.02, ""};
  CHECK_FALSE(exact.ok());
  CHECK(close.ok());
}

}  // namespace
}  // namespace dlcp::simulate
