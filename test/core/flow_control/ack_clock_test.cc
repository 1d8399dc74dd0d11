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

TEST_CASE("no acknowledgement is due before any packet has arrived") {
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

TEST_CASE("every 64th packet is acknowledged at once, the 63rd is not") {
  AckClock clock;
  for (int i = 0; i < 63; ++i)
    clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 51us);
  clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 1us);
}

TEST_CASE("a packet that requests an ACK gets it at once, and the packet count restarts") {
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

TEST_CASE("with a small window, every quarter of the window is acknowledged") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 1 << 20, .window = 8});
  CHECK(clock.due() == t0 + 50us);
  clock.on_data(t0 + 1us, {.message_bytes = 1 << 20, .window = 8});
  CHECK(clock.due() == t0 + 1us);
}

TEST_CASE(
    "the ACK of a whole long message follows the answer, that of a part or a short one does not") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  CHECK_FALSE(clock.on_answer(t0 + 1us));
  clock.on_data(t0, {.message_bytes = 4096, .copied = true, .ends_message = true, .window = 1024});
  CHECK_FALSE(clock.on_answer(t0 + 1us));
  clock.on_data(t0 + 2us, {.message_bytes = 4097, .ends_message = true, .window = 1024});
  CHECK(clock.on_answer(t0 + 3us));
  CHECK(clock.due() == t0 + 3us);
  clock.on_sent(t0 + 3us, true);
  CHECK_FALSE(clock.on_answer(t0 + 4us));
}

TEST_CASE("an ACK hurries if the sender asked for it, until it was sent") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  CHECK_FALSE(clock.hurries());
  auto asking = middle_of_long();
  asking.asked = true;
  clock.on_data(t0, asking);
  CHECK(clock.hurries());
  clock.on_sent(t0, false);  // more of it follows
  CHECK(clock.hurries());
  clock.on_sent(t0, true);
  CHECK_FALSE(clock.hurries());
}

TEST_CASE("the end of a long message is acknowledged at once when no receive is left") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 1 << 20, .nothing_posted = true, .window = 1024});
  CHECK(clock.due() == t0);
}

namespace {

constexpr AckClock::Arrival last_short{.message_bytes = 4096,
                                       .copied = true,
                                       .ends_message = true,
                                       .nothing_posted = true,
                                       .window = 1024};

}  // namespace

TEST_CASE("no sender waits for the ACK of a short message that it has copied") {
  AckClock clock;
  clock.on_data(t0, last_short);
  CHECK(clock.due() == t0 + 50us);
  CHECK_FALSE(clock.hurries());
}

TEST_CASE("the end of a medium message is acknowledged soon, and at once if no receive is left") {
  AckClock clock;
  clock.on_data(t0, {.message_bytes = 4097, .ends_message = true, .window = 1024});
  CHECK(clock.due() == t0 + 5us);
  clock.on_sent(t0 + 5us, true);
  clock.on_data(t0 + 6us, {.message_bytes = 16383, .ends_message = true, .window = 1024});
  CHECK(clock.due() == t0 + 11us);
  clock.on_data(t0 + 7us, {.message_bytes = 4097, .nothing_posted = true, .window = 1024});
  CHECK(clock.due() == t0 + 7us);
}

TEST_CASE("receives of short messages that are posted ahead are reported with the next data") {
  AckClock clock;
  clock.on_data(t0, last_short);
  clock.on_sent(t0 + 50us, true);
  clock.on_report(t0 + 60us, AckBy::kWithOthers);
  CHECK(clock.due() == t0 + 1060us);
  SECTION("data") {
    clock.on_data(t0 + 100us, last_short);
    CHECK(clock.due() == t0 + 150us);
  }
  SECTION("a receive whose data had arrived: the sender may have reached its limit") {
    clock.on_report(t0 + 100us, AckBy::kSoon);
    CHECK(clock.due() == t0 + 150us);
  }
  SECTION("a receive of which a part had arrived: the sender waits to send the rest") {
    clock.on_report(t0 + 100us, AckBy::kNow);
    CHECK(clock.due() == t0 + 100us);
    CHECK(clock.hurries());
  }
}

TEST_CASE("while messages are long, posted receives are reported after the delay") {
  AckClock clock;
  clock.on_data(t0, last_short);
  clock.on_data(t0, middle_of_long());
  clock.on_sent(t0, true);
  clock.on_report(t0 + 60us, AckBy::kWithOthers);
  CHECK(clock.due() == t0 + 110us);
}

TEST_CASE("at a high packet rate an acknowledgement waits longer to cover more packets") {
  AckClock clock;
  for (int i = 0; i < 12; ++i)
    clock.on_data(t0, middle_of_long());
  clock.on_sent(t0, true);
  clock.on_data(t0 + 1us, middle_of_long());
  CHECK(clock.due() == t0 + 151us);
}

TEST_CASE("data that did not fit into one acknowledgement follows at once in the next") {
  AckClock clock;
  clock.on_data(t0, middle_of_long());
  clock.on_sent(t0 + 50us, false);
  CHECK(clock.due() == t0 + 50us);
}

TEST_CASE("a posted receive is reported after the delay, unless the connection ends") {
  AckClock clock;
  clock.on_report(t0, AckBy::kSoon);
  CHECK(clock.due() == t0 + 50us);
  clock.cancel();
  CHECK(clock.due() == kNever);
}
