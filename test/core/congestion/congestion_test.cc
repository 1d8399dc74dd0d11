#include "catch.h"
#include "core/congestion/pacer.h"
#include "core/congestion/queue/queue_congestion.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Plays rounds of 1 ms, in each of which a window of packets is acknowledged.
struct Rounds {
  void play(int rounds, Duration delay, double loss = 0, double marks = 0) {
    for (int i = 0; i < rounds; ++i) {
      now += 1ms;
      control.on_delay(now, delay, 0ns);
      AckSample sample{.now = now, .round_trip = 1ms};
      const double window = control.window();
      sample.lost = static_cast<std::uint32_t>(window * loss);
      sample.acked = static_cast<std::uint32_t>(window) - sample.lost;
      sample.marked = static_cast<std::uint32_t>(window * marks);
      sample.limited = limited;
      control.on_ack(sample);
    }
  }
  // The same with licensed packets: the share `loss` of them is lost and not sent again.
  void play_licensed(int rounds, double loss, double budget) {
    for (int i = 0; i < rounds; ++i) {
      now += 1ms;
      control.on_delay(now, 50us, 0ns);
      AckSample sample{.now = now, .round_trip = 1ms};
      sample.forgone = static_cast<std::uint32_t>(control.window() * loss);
      sample.acked = static_cast<std::uint32_t>(control.window()) - sample.forgone;
      sample.loss_budget = budget;
      sample.limited = limited;
      control.on_ack(sample);
    }
  }
  QueueCongestion control{0us};
  Time now = time_from_ns(0);
  bool limited = true;
};

}  // namespace

TEST_CASE("the window doubles while the network is empty") {
  Rounds r;
  const double before = r.control.window();
  r.play(3, 50us);
  CHECK(r.control.window() == Approx(8 * before));
}

TEST_CASE("the first round ends as soon as an ACK shows that a round trip is short") {
  QueueCongestion control{0us};
  Time now = time_from_ns(1'000'000);
  AckSample sample{.now = now, .round_trip = 1ms, .acked = 1, .limited = true};
  control.on_ack(sample);  // names no packet that would show the round trip
  sample.round_trip = 10us;
  sample.acked = 8;
  for (int i = 0; i < 20; ++i) {
    sample.now = now += 10us;
    control.on_delay(now, 10us, 0ns);
    control.on_ack(sample);
  }
  CHECK(control.window() > 40);
}

TEST_CASE("the window does not grow while the sender does not fill it") {
  Rounds r;
  r.limited = false;
  const double before = r.control.window();
  r.play(20, 50us);
  CHECK(r.control.window() == before);
}

TEST_CASE("one percent of random loss does not cut the window, ten percent do") {
  Rounds r;
  r.play(4, 50us);
  const double before = r.control.window();
  r.play(10, 50us, 0.01);
  CHECK(r.control.window() > before);
  const double then = r.control.window();
  r.play(20, 50us, 0.10);
  CHECK(r.control.window() < then);
}

TEST_CASE("marks cut the window in proportion to their share, as DCTCP does") {
  Rounds few;
  Rounds many;
  few.play(5, 50us);
  many.play(5, 50us);
  few.play(30, 50us, 0, 0.05);
  many.play(30, 50us, 0, 1.0);
  CHECK(many.control.window() < few.control.window());
}

TEST_CASE("a stall leaves two packets, and the window recovers quickly") {
  Rounds r;
  r.play(5, 50us);
  r.control.on_stall(r.now);
  CHECK(r.control.window() == 2);
  r.play(4, 50us);
  CHECK(r.control.window() >= 32);
}

TEST_CASE("the window never falls below a quarter packet") {
  Rounds r;
  r.play(1, 50us);
  r.play(100, 100ms);
  CHECK(r.control.window() >= 0.25);
}

TEST_CASE("a pacer spaces packets; a late caller may catch up by the slack only") {
  Pacer pacer;
  const Time t0 = time_from_ns(1'000'000'000);
  pacer.on_sent(t0, 1, 10us, 0ns);
  CHECK_FALSE(pacer.may_send(t0 + 10us - 1ns));
  CHECK(pacer.may_send(t0 + 10us));
  pacer.on_sent(t0 + 1s, 1, 10us, 100us);
  CHECK(pacer.next() == t0 + 1s - 90us);
}

TEST_CASE("a pace that was too slow is forgiven, and packets sent meanwhile cost no later pause") {
  Pacer pacer;
  const Time now = time_from_ns(1'000'000'000);
  for (int i = 0; i < 100; ++i) {
    pacer.forgive(now);
    CHECK(pacer.may_send(now));
    pacer.on_sent(now, 1, 10ms, 0ns);
  }
  CHECK(pacer.next() == now + 10ms);
}

TEST_CASE("a caller whose processor is busy may catch up on a round trip") {
  Pacer pacer;
  CHECK(pacer.slack(5ms) == 200us);
  pacer.on_sent(time_from_ns(0), 1, 10us, 0ns);
  CHECK_FALSE(pacer.may_send(time_from_ns(0)));
  CHECK(pacer.slack(5ms) == 5ms);
  CHECK(pacer.slack(20us) == 200us);
  pacer.on_other_limit();
  CHECK(pacer.slack(5ms) == 200us);
}

TEST_CASE("after a pause half of the window may leave at once, ten packets at most") {
  const auto free_packets = [](double window) {
    Pacer pacer;
    const Time now = time_from_ns(1'000'000'000);
    pacer.on_pause(window);
    int free = 0;
    for (; free < 100; ++free) {
      pacer.on_sent(now, 1, 1ms, 0ns);
      if (!pacer.may_send(now)) break;
    }
    return free;
  };
  CHECK(free_packets(0.5) == 0);
  CHECK(free_packets(1.9) == 0);
  CHECK(free_packets(2) == 1);
  CHECK(free_packets(16) == 8);
  CHECK(free_packets(20) == 10);
  CHECK(free_packets(1000) == 10);
}

TEST_CASE("after a pause the sending time of one burst follows the free packets at once") {
  Pacer pacer;
  const Time now = time_from_ns(1'000'000'000);
  pacer.on_pause(100);
  pacer.on_sent(now, 50, 1us, 200us);  // ten are free
  CHECK(pacer.next() == now - 60us);
  pacer.on_sent(now, 70, 1us, 200us);
  CHECK(pacer.next() == now + 10us);
}

TEST_CASE("losses within half of the budget do not slow a licensed sender; larger losses do") {
  Rounds r;
  r.play(3, 50us);
  const double before = r.control.window();
  r.play_licensed(50, 0.08, 0.2);
  CHECK(r.control.window() > before);
  const double tolerated = r.control.window();
  r.play_licensed(20, 0.15, 0.2);
  CHECK(r.control.window() < tolerated / 2);
}

TEST_CASE("a small budget makes a sender no slower than an exact one, and bounds its growth") {
  Rounds r;
  r.play(4, 50us);
  const double before = r.control.window();
  r.play_licensed(20, 0.02, 0.01);
  CHECK(r.control.window() >= before);
  CHECK(r.control.window() <= 2 * before + 20);  // the loss rate is known after a few rounds
  r.play_licensed(20, 0.05, 0.01);
  CHECK(r.control.window() < before);
}

TEST_CASE(
    "while licensed packets are lost, at most 1.25 times the delivered packets are in flight") {
  Rounds r;
  r.play(4, 50us);
  for (int i = 0; i < 6; ++i) {  // a port that delivers 40 packets per round, whatever is sent
    r.now += 1ms;
    r.control.on_delay(r.now, 50us, 0ns);
    AckSample sample{.now = r.now, .round_trip = 1ms};
    sample.acked = 40;
    sample.forgone = static_cast<std::uint32_t>(r.control.window()) - 40;
    sample.loss_budget = 0.5;
    sample.limited = true;
    r.control.on_ack(sample);
  }
  CHECK(r.control.window() <= 50);
  CHECK(r.control.window() >= 8);
}
