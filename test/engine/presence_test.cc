#include "engine/presence.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

}  // namespace

TEST_CASE("who waits and polls is looked for ever less often") {
  Presence presence;
  presence.waits();
  presence.polled(t0);
  CHECK_FALSE(presence.alarm());
  CHECK(presence.look(t0 + 1ms) == 5ms);
  CHECK(presence.look(t0 + 5ms) == 10ms);
}

TEST_CASE("who waits and has not polled for longer than another task's slice does not drive") {
  Presence presence;
  presence.waits();
  presence.polled(t0);
  CHECK_FALSE(presence.look(t0 + 6ms));
}

TEST_CASE("who waits for nothing any more is looked for soon, and one alarm is enough") {
  Presence presence;
  presence.waits(2);
  presence.polled(t0);
  presence.has_got();
  CHECK_FALSE(presence.alarm());
  presence.has_got();
  CHECK(presence.alarm() == 1ms);
  CHECK_FALSE(presence.alarm());
  CHECK_FALSE(presence.look(t0 + 1ms));  // has left
}

TEST_CASE("who came back in time is looked for later the next time he may have left") {
  Presence presence;
  for (const Duration pause : {1ms, 2ms, 4ms, 4ms}) {
    CHECK(presence.alarm() == pause);
    presence.waits();
    presence.polled(t0);
    CHECK(presence.look(t0).has_value());
    presence.has_got();
  }
}

TEST_CASE("who polls and waits for nothing is looked for without another alarm") {
  Presence presence;
  CHECK(presence.alarm() == 1ms);
  presence.polled(t0);
  CHECK(presence.look(t0 + 50us) == 1ms);
  CHECK_FALSE(presence.alarm());
  CHECK(presence.look(t0 + 60us) == 2ms);
  CHECK_FALSE(presence.look(t0 + 2ms));
  CHECK(presence.alarm() == 1ms);  // begins with short pauses again
}
