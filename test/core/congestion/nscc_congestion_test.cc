#include "core/congestion/nscc_congestion.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Duration kBase = 100us;  // the target is 75 us

struct Acks {
  Acks() { control.on_handshake(kBase); }

  NsccCongestion control{15us};
  Time now = time_from_ns(0);

  // One ACK of `packets` packets, a round trip after the last.
  void ack(Duration queue, double packets, double marks = 0, double lost = 0,
           Duration after = kBase, double late = 0) {
    now += after;
    control.on_delay(now, kBase + queue, 0ns);
    control.on_ack({.now = now,
                    .round_trip = kBase,
                    .acked = packets,
                    .lost = lost,
                    .spurious = late,
                    .marked = marks,
                    .limited = true});
  }
  std::uint32_t whole() const { return static_cast<std::uint32_t>(control.window()); }
  // Until slow start has ended and the base delay is known.
  void settle() {
    for (int i = 0; i < 8; ++i)
      ack(50us, 60);  // enough to end slow start
    ack(0us, 60, 60);
    REQUIRE_FALSE(control.in_slow_start());
  }
};

}  // namespace

TEST_CASE("nscc: without marks and queue the window grows by four packets a round trip") {
  Acks acks;
  acks.settle();
  const double before = acks.control.window();
  acks.ack(1us, 10);
  CHECK(acks.control.window() == Approx(before + 4 * (1 - 1.0 / 75) * 10 / before));
}

TEST_CASE(
    "nscc: after a whole window without a queue it grows by a quarter of the packets "
    "acknowledged") {
  Acks acks;
  acks.settle();
  const double before = acks.control.window();
  acks.ack(0us, acks.whole());
  const double next = acks.control.window();
  CHECK(next < before + 5);
  acks.ack(0us, 40);
  CHECK(acks.control.window() == Approx(next + 10));
}

TEST_CASE(
    "nscc: at the target queue the window grows by one packet a round trip, and a mark shrinks "
    "it") {
  Acks acks;
  acks.settle();
  const double before = acks.control.window();
  acks.ack(75us, 20);
  CHECK(acks.control.window() == Approx(before + 20 / before));
}

TEST_CASE(
    "nscc: marks below the target queue change nothing, at the target they decrease the window") {
  Acks acks;
  acks.settle();
  double before = acks.control.window();
  acks.ack(75us - 1ns, 20, 20);
  CHECK(acks.control.window() == before);
  // The mean queue counts, and it follows slowly.
  for (int i = 0; i < 100; ++i)
    acks.ack(100us, 10);
  before = acks.control.window();
  acks.ack(100us, 10, 10);
  CHECK(acks.control.window() == Approx(before * (1 - 0.8 * 25 / 100)).epsilon(0.001));
}

TEST_CASE("nscc: it decreases once per round trip, and again a nanosecond after one") {
  Acks acks;
  acks.settle();
  for (int i = 0; i < 100; ++i)
    acks.ack(140us, 10);
  acks.ack(140us, 10, 10);
  const double then = acks.control.window();
  acks.ack(140us, 10, 10, 0, kBase);
  CHECK(acks.control.window() == then);
  acks.ack(140us, 10, 10, 0, 1ns);
  CHECK(acks.control.window() < then);
}

TEST_CASE("nscc: if no switch marks, a queue of twice the target counts as a mark") {
  Acks below;
  below.settle();
  for (int i = 0; i < 30; ++i)
    below.ack(150us - 1ns, 60);
  const double grown = below.control.window();
  below.ack(150us - 1ns, 60);
  CHECK(below.control.window() > grown);
  below.ack(150us, 60);
  CHECK(below.control.window() < grown);
}

TEST_CASE("nscc: at high loss no more is in flight than was delivered") {
  Acks acks;
  acks.settle();
  acks.ack(0us, 10, 0, acks.whole() - 10);
  CHECK(acks.control.window() == 10);
}

TEST_CASE("nscc: a cut for losses is undone if the packets were only late, and not if it is old") {
  Acks acks;
  acks.settle();
  const double before = acks.control.window();
  acks.ack(0us, 10, 0, acks.whole() - 10);
  const auto lost = static_cast<std::uint32_t>(before) - 10;
  SECTION("the next round reports it") {
    acks.ack(0us, 10, 0, 0, kBase, lost);
    CHECK(acks.control.window() >= before);
  }
  SECTION("four rounds later it is still undone") {
    for (int i = 0; i < 3; ++i)
      acks.ack(0us, 10);
    acks.ack(0us, 10, 0, 0, kBase, lost);
    CHECK(acks.control.window() >= before);
  }
  SECTION("five rounds later it is not") {
    for (int i = 0; i < 4; ++i)
      acks.ack(0us, 10);
    acks.ack(0us, 10, 0, 0, kBase, lost);
    CHECK(acks.control.window() < before);
  }
}
