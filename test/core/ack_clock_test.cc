#include "core/flow_control/ack_clock.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

AckClock::Arrival middle_of_long() {
  return {.message_bytes = 1 << 20, .window = 1024};
}

}  // namespace

TEST_CASE("nothing is due before anything has come") {
  AckClock clock;
  CHECK(clock.due() == kNever);
}

TEST_CASE("a single packet of a long message is acknowledged after the delay") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  CHECK(clock.due() == t0 + 50us);
  clock.on_sent(t0 + 50us, true);
  CHECK(clock.due() == kNever);
}

TEST_CASE("every 64th packet is acknowledged at once, and not the 63rd") {
  AckClock clock;
  for (int i = 0; i < 63; ++i)
    clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 51us);
  clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 1us);
}

TEST_CASE("who asks is answered at once, and the count begins anew") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  auto asking = middle_of_long();
  asking.asked = true;
  clock.on_data(t0 + 2us, asking);
  CHECK(clock.due() == t0 + 2us);
  clock.on_sent(t0 + 2us, true);
  clock.on_data(t0 + 3us, middle_of_long());
  CHECK(clock.due() == t0 + 53us);
}

TEST_CASE("a small window is acknowledged by quarters") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 1 << 20, .window = 8});
  CHECK(clock.due() == t0 + 50us);
  clock.on_data(t0 + 1us, {.message_bytes = 1 << 20, .window = 8});
  CHECK(clock.due() == t0 + 1us);
}

TEST_CASE("a short message is acknowledged sooner than a long one") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 64, .ends_message = true, .window = 1024});
  CHECK(clock.due() == t0 + 5us);
}

TEST_CASE("the end of a long message is acknowledged at once when no receive is left") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 1 << 20, .nothing_posted = true, .window = 1024});
  CHECK(clock.due() == t0);
}

namespace {

constexpr AckClock::Arrival last_short{
    .message_bytes = 64, .ends_message = true, .nothing_posted = true, .window = 1024};

// The application posts its next receive so long after each of the messages has come.
void take_turns(AckClock& clock, int messages, Duration after) {
  for (int i = 0; i < messages; ++i) {
    const Time now = t0 + i * 1ms;
    clock.on_data(now, last_short);
    clock.on_sent(std::min(clock.due(), now + 5us), true);
    clock.on_posted(now + after);
    clock.on_sent(now + after + 50us, true);
  }
}

}  // namespace

TEST_CASE("nor does the end of a short one wait, as nobody may call in any more") {
  AckClock clock;
  clock.on_data(t0, last_short);
  CHECK(clock.due() == t0);
}

TEST_CASE("an application that takes turns with its peer answers first") {
  AckClock clock;
  take_turns(clock, 16, 10us);
  clock.on_data(t0 + 1s, last_short);
  CHECK(clock.due() == t0 + 1s + 5us);
}

TEST_CASE("one that has once left after its last receive is not waited for again") {
  AckClock clock;
  SECTION("its next receive came late") {
    take_turns(clock, 1, 60us);
  }
  SECTION("the acknowledgement went out late") {
    take_turns(clock, 16, 10us);
    clock.on_data(t0 + 1s, last_short);
    clock.on_sent(t0 + 1s + 2ms, true);
  }
  take_turns(clock, 15, 10us);
  clock.on_data(t0 + 2s, last_short);
  CHECK(clock.due() == t0 + 2s);
}

TEST_CASE("packets that come fast wait longer for company") {
  AckClock clock;
  for (int i = 0; i < 12; ++i)
    clock.on_data(t0, middle_of_long());
  clock.on_sent(t0, true);
  clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 151us);
}

TEST_CASE("what did not fit into one acknowledgement follows at once") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  clock.on_sent(t0 + 50us, false);
  CHECK(clock.due() == t0 + 50us);
}

TEST_CASE("a posted receive is told after the delay, unless the connection ends") {
  AckClock clock;
  clock.on_posted(t0);
  CHECK(clock.due() == t0 + 50us);
  clock.cancel();
  CHECK(clock.due() == kNever);
}
