#include "cli/launch/silence.h"

#include "catch.h"

using dlcp::cli::Silence;

namespace {
constexpr std::int64_t kSecond = 1'000'000'000;
}

TEST_CASE("a rank is silent for the time since its last progress or message") {
  Silence silence(5 * kSecond);
  CHECK(silence.look(6 * kSecond, 0) == kSecond);
  CHECK(silence.look(7 * kSecond, 1) == 0);
  CHECK(silence.look(8 * kSecond, 1) == kSecond);
  silence.broken(8 * kSecond);
  CHECK(silence.look(9 * kSecond, 1) == kSecond);
}

TEST_CASE("time in which this process did not check is not silence, from a second on") {
  Silence silence(0);
  CHECK(silence.look(kSecond, 0) == kSecond);
  CHECK(silence.look(2 * kSecond + 1, 0) == kSecond);
  CHECK(silence.look(400 * kSecond, 0) == kSecond);
  CHECK(silence.look(401 * kSecond, 0) == 2 * kSecond);
  silence.broken(500 * kSecond);  // read on waking, before the check
  CHECK(silence.look(500 * kSecond, 0) == 0);
}
