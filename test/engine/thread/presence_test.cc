#include "engine/thread/presence.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

}  // namespace

TEST_CASE("a waiting caller that polls is checked at growing intervals") {
  Presence presence;
  presence.waits();
  presence.polled(t0);
  CHECK_FALSE(presence.alarm());
  CHECK(presence.look(t0 + 500us) == 1ms);
  presence.polled(t0 + 1ms);
  CHECK(presence.look(t0 + 1500us) == 2ms);
}

TEST_CASE(
    "a waiting caller that has not polled for a millisecond is absent: other threads have its "
    "core") {
  Presence presence;
  presence.waits();
  presence.polled(t0);
  CHECK(presence.look(t0 + 999us).has_value());
  CHECK_FALSE(presence.look(t0 + 1ms));
}

TEST_CASE("a caller without requests is checked soon, and one alarm is enough") {
  Presence presence;
  presence.waits(2);
  presence.polled(t0);
  presence.has_got();
  CHECK_FALSE(presence.alarm());
  presence.has_got();
  CHECK(presence.alarm() == 1ms);
  CHECK_FALSE(presence.alarm());
  CHECK_FALSE(presence.look(t0 + 1ms));  // it has left
}

TEST_CASE("if a caller returned in time, its next possible absence is checked later") {
  Presence presence;
  for (const Duration pause : {1ms, 2ms, 4ms, 4ms}) {
    CHECK(presence.alarm() == pause);
    presence.waits();
    presence.polled(t0);
    CHECK(presence.look(t0).has_value());
    presence.has_got();
  }
}

TEST_CASE("a caller that polls without requests is checked without another alarm") {
  Presence presence;
  CHECK(presence.alarm() == 1ms);
  presence.polled(t0);
  CHECK(presence.look(t0 + 50us) == 1ms);
  CHECK_FALSE(presence.alarm());
  CHECK(presence.look(t0 + 60us) == 2ms);
  CHECK_FALSE(presence.look(t0 + 2ms));
  CHECK(presence.alarm() == 1ms);  // begins with short intervals again
}
