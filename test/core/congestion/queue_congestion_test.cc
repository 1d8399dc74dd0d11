#include "core/congestion/queue/queue_congestion.h"

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Plays rounds of 1 ms, each of `samples` acknowledgements, on a path of base delay 200 us whose
// queue holds at most `room` packets of this sender.
struct Rounds {
  void ack(Duration delay, double packets, double lost = 0, double marked = 0) {
    control.on_delay(now, delay, 0ns);
    AckSample sample{.now = now, .round_trip = 1ms};
    sample.acked = static_cast<std::uint32_t>(packets);
    sample.lost = static_cast<std::uint32_t>(lost);
    sample.marked = static_cast<std::uint32_t>(marked);
    sample.limited = limited;
    control.on_ack(sample);
  }
  // A share of each round carries marks; the rounds before saw the path empty.
  void play_marked(int rounds, Duration queue, double share, int before = 8) {
    play_jitter(before, 16, 0us);
    for (int i = 0; i < rounds; ++i) {
      now += 1ms;
      const double packets = control.window() / 16 + 1;
      for (int k = 0; k < 16; ++k)
        ack(base + queue, packets, 0, packets * share);
    }
  }
  void play(int rounds, Duration delay, double loss = 0) {
    for (int i = 0; i < rounds; ++i) {
      now += 1ms;
      const double window = control.window();
      ack(delay, window * (1 - loss), window * loss);
    }
  }
  void play_jitter(int rounds, int samples, Duration spread) {
    for (int i = 0; i < rounds; ++i) {
      now += 1ms;
      const double window = control.window();
      for (int k = 0; k < samples; ++k) {
        const auto jitter =
            static_cast<std::int64_t>(rng.unit() * static_cast<double>(spread.count()));
        ack(base + Duration(jitter), window / samples + 1);
      }
    }
  }
  QueueCongestion control{kQueueTarget};
  Duration base = 200us;
  Time now = time_from_ns(0);
  bool limited = true;
  Rng rng{1};
};

}  // namespace

TEST_CASE("jitter of twice the base delay does not hold the window down, however few the samples") {
  for (const int samples : {1, 2, 4, 16, 64}) {
    Rounds r;
    r.play_jitter(300, samples, 400us);
    double sum = 0;
    for (int i = 0; i < 300; ++i) {
      r.play_jitter(1, samples, 400us);
      sum += r.control.window();
    }
    INFO(samples << " samples per round");
    CHECK(sum / 300 > 100);
  }
}

TEST_CASE(
    "a queue above the target cuts the window by the queue's share of the delay and a quarter "
    "more") {
  Rounds r;
  r.play(8, 200us);
  const double before = r.control.window();
  r.play(1, 300us);  // 100 us of queue of 300
  CHECK(r.control.window() == Approx(before * (1 - 1.25 / 3)));
  r.play(1, 100ms);  // has no effect: it was sent before the cut,
  r.play(1, 100ms);  // and so was this
  CHECK(r.control.window() == Approx(before * (1 - 1.25 / 3)));
  r.play(1, 100ms);
  CHECK(r.control.window() == Approx(before * (1 - 1.25 / 3) / 2));
}

TEST_CASE("without cuts the window grows faster and faster, up to a quarter per round") {
  Rounds r;
  r.play(9, 200us);
  r.play(1, 400us);  // ends slow start
  const auto growth = [&] {
    const double before = r.control.window();
    r.play(1, 200us);
    return r.control.window() / before - 1;
  };
  r.play(8, 200us);
  CHECK(growth() < 0.1);
  r.play(7, 200us);
  const double early = growth();
  r.play(7, 200us);
  CHECK(growth() > early);
  r.limited = false;
  r.play(20, 200us);  // a window that is not used does not grow
  r.limited = true;
  CHECK(growth() == Approx(0.25));
}

TEST_CASE("few marks cut only with a visible queue or a large window, many always do") {
  const auto is_cut = [](Duration queue, double share, int before) {
    Rounds r;
    r.play_marked(4, queue, share, before);
    Rounds unmarked;
    unmarked.play_marked(4, queue, 0, before);
    return r.control.window() < unmarked.control.window();
  };
  CHECK_FALSE(is_cut(0us, 0.15, 1));  // 32 packets, and 500 after four rounds
  CHECK(is_cut(0us, 0.15, 6));        // 1000
  CHECK(is_cut(0us, 0.9, 1));
  CHECK_FALSE(is_cut(0us, 0.02, 6));
  CHECK(is_cut(20us, 0.02, 6));
}

TEST_CASE("marks cut at most the visible queue and a little more") {
  const auto left = [](Duration queue) {
    Rounds r;
    r.play_marked(50, queue, 1);
    const double before = r.control.window();
    r.play_marked(1, queue, 1, 0);
    return r.control.window() / before;
  };
  CHECK(left(0us) == Approx(0.95).margin(0.01));
  CHECK(left(20us) < 0.9);
}

TEST_CASE("marks on every packet of an empty path do not hold the window at its minimum") {
  Rounds r;
  r.play_marked(8, 0us, 1);
  while (r.control.window() > 2 * kWindowMin)
    r.play_marked(1, 0us, 1, 0);
  r.play_marked(50, 0us, 1, 0);
  const double grown = r.control.window();
  CHECK(grown > 30);
  r.play_marked(4, 20us, 1, 0);  // with a queue they count
  CHECK(r.control.window() < grown);
  r.play_marked(20, 0us, 1, 0);
  CHECK(r.control.window() > grown);
  r.play_marked(2, 0us, 0.5, 0);  // a round with fewer shows that marks tell something
  const double told = r.control.window();
  r.play_marked(4, 0us, 1, 0);
  CHECK(r.control.window() < told);
}

TEST_CASE("marks do not cut a small window that is not what limits the sender") {
  for (const bool limited : {true, false}) {
    Rounds r;
    const auto marked_round = [&] {
      r.now += 1ms;
      r.ack(r.base, 1, 0, 1);
    };
    while (r.control.window() > 2)
      marked_round();
    const double before = r.control.window();
    r.limited = limited;
    for (int i = 0; i < 10; ++i)
      marked_round();
    CHECK((r.control.window() < before) == limited);
  }
}

TEST_CASE(
    "a round with a queue does not cut a window that does not limit the sender, a second does") {
  Rounds path;
  path.play_jitter(8, 16, 0us);
  path.limited = false;
  path.play_jitter(2, 1, 0us);
  const double window = path.control.window();
  path.now += 1ms;
  path.ack(path.base + 1600us, window / 4);
  path.play_jitter(1, 1, 0us);  // a round without a queue
  CHECK(path.control.window() >= window);
  path.play(3, path.base + 1600us);
  CHECK(path.control.window() < window);
}

TEST_CASE("no queue is judged before seven samples have measured the jitter") {
  Rounds r;
  r.control.on_handshake(200us);
  r.play(6, 2ms);
  CHECK(r.control.window() == 16 * 64);
  r.play(1, 2ms);
  CHECK(r.control.window() < 16 * 64);
}

TEST_CASE("a small window tolerates a queue that a large one does not") {
  Rounds small;
  Rounds large;
  small.play(1, 200us);
  large.play(8, 200us);
  const double small_before = small.control.window();
  const double large_before = large.control.window();
  small.play(1, 260us);
  large.play(1, 260us);
  CHECK(small.control.window() > small_before);
  CHECK(large.control.window() < large_before);
}

TEST_CASE("a sender with hardly any packets in the queue does not cut, however long the queue is") {
  const auto window_after = [](double packets) {  // per round of 1 ms, in a queue of 900 us
    Rounds r;
    r.play(8, 200us);
    for (int i = 0; i < 4; ++i) {  // only that many are sent
      r.now += 1ms;
      r.limited = false;
      r.ack(200us, packets);
    }
    const double before = r.control.window();
    for (int i = 0; i < 2; ++i) {  // one round could be a pause of a host
      r.now += 1ms;
      r.ack(1100us, packets);
    }
    return r.control.window() / before;
  };
  CHECK(window_after(4) == 1);
  CHECK(window_after(16) < 1);
}

TEST_CASE("a base delay that grows by 2 ms is adopted within twenty round trips") {
  Rounds r;
  r.play(6, 200us);
  const double before = r.control.window();
  r.play(20, 2200us);
  CHECK(r.control.window() >= before);
}

TEST_CASE("a flow that joins a queue learns the path's delay from the handshake") {
  Rounds late;
  late.play(10, 400us);  // 200 us of them are a queue
  Rounds told;
  told.control.on_handshake(200us);
  told.play(10, 400us);
  CHECK(told.control.window() < late.control.window() / 2);
  Rounds slow;  // the process was busy when the answer arrived
  slow.control.on_handshake(5ms);
  slow.play(1, 210us);
  slow.play(9, 400us);
  CHECK(slow.control.window() < late.control.window() / 2);
}

TEST_CASE("a single sample that is too small does not make all others look like a queue") {
  Rounds r;
  r.play(10, 200us);
  const double before = r.control.window();
  r.play(1, 1us);
  r.play(40, 200us);
  CHECK(r.control.window() > before);
}

TEST_CASE("two paths of unequal delay do not look like a queue") {
  Rounds r;
  for (int i = 0; i < 100; ++i) {
    r.now += 1ms;
    r.ack(200us, r.control.window() / 2);
    r.ack(600us, r.control.window() / 2);
  }
  CHECK(r.control.window() > 1000);
}

TEST_CASE("the answers' waiting time cuts nothing, and allows as many more packets in flight") {
  Rounds r;
  r.play(10, 200us);
  r.limited = false;  // no growth from here on
  // A hundred answers a round: a few consecutive ones show the waiting time.
  const auto play_answers = [&](int rounds, Duration wait) {
    for (int i = 0; i < rounds * 100; ++i) {
      if (i % 100 == 0) r.now += 1ms;
      AckSample sample{.now = r.now, .round_trip = 1ms};
      sample.acked = 1;
      r.control.on_delay(r.now, 200us + wait, wait);
      r.control.on_ack(sample);
    }
  };
  play_answers(5, 0us);
  const double before = r.control.window();
  play_answers(2, 500us);
  // 100 packets a millisecond: 50 of them in the 0.5 ms for which answers wait.
  CHECK(r.control.window() == Approx(before + 50).margin(1));
  SECTION("but at most as many as the window, and none after a stall") {
    play_answers(1, 10s);
    CHECK(r.control.window() <= 2 * before);
    r.control.on_stall(r.now);
    CHECK(r.control.window() == 2);
  }
  SECTION("until answers no longer wait; then the same delay is a queue") {
    play_answers(1, 0us);
    CHECK(r.control.window() == before);
    r.play(3, 700us);
    CHECK(r.control.window() < before);
  }
}

TEST_CASE("a queue of a rival that was taken for the path is forgotten when it has gone") {
  Rounds r;
  r.play(20, 200us);
  for (const Duration queue : {16ms, 8ms, 4ms, 2ms, 1ms})
    r.play(3, 200us + queue);
  Rounds taken = r;
  taken.play(3, 1ms);
  CHECK(taken.control.window() >= r.control.window());
  r.play(10, 200us);
  const double before = r.control.window();
  r.play(3, 1ms);  // a queue now
  CHECK(r.control.window() < before);
}

TEST_CASE("beside a rival in a short buffer a loss halves the window, which then grows as Reno's") {
  Rounds r;
  r.play(40, r.base);
  while (r.control.window() > 400)
    r.play(1, r.base, 0.5);
  // Below the target queue; 4 packets are dropped whenever the queue is longest.
  const auto saw_tooth = [&r](int phase) {
    r.now += 1ms;
    r.ack(r.base + 70us * phase / 20, r.control.window(), phase >= 17 ? 4 : 0);
  };
  for (int i = 0; i < 400; ++i)
    saw_tooth(i % 20);
  saw_tooth(0);  // no cut in the round after a cut
  const double cut = r.control.window();
  saw_tooth(1);
  CHECK(r.control.window() - cut > 2.2);  // faster growth, because the queue is empty
  for (int phase = 2; phase < 12; ++phase)
    saw_tooth(phase);
  const double queued = r.control.window();
  for (int phase = 12; phase < 17; ++phase)
    saw_tooth(phase);
  const double before = r.control.window();
  CHECK(before - queued == Approx(5 * 0.53));
  saw_tooth(17);
  CHECK(r.control.window() == Approx(before / 2));
}

TEST_CASE("growth by a share of the window ends before the queue reaches the target") {
  Rounds r;
  r.play(1000, r.base, 0);
  const auto growth = [&r](Duration queue) {
    const double before = r.control.window();
    r.play(1, r.base + queue);
    return r.control.window() / before - 1;
  };
  r.play(3, r.base, 0.5);  // out of slow start
  r.limited = false;
  r.play(100, r.base);
  r.limited = true;
  CHECK(growth(0us) == Approx(0.25));
  CHECK(growth(6us) < 0.2);
  CHECK(growth(6us) > 0.1);
  CHECK(growth(25us) < 0.05);
}

TEST_CASE("a cut for losses is undone if the packets were only late, and not if most were lost") {
  Rounds r;
  r.play(6, r.base);
  const double before = r.control.window();
  REQUIRE(before > 500);
  r.play(1, r.base, 0.1);
  CHECK(r.control.window() < before);
  const auto late = [&](double share) {
    r.now += 1ms;
    r.control.on_delay(r.now, r.base, 0ns);
    AckSample sample{.now = r.now, .round_trip = 1ms};
    sample.acked = static_cast<std::uint32_t>(r.control.window());
    sample.spurious = static_cast<std::uint32_t>(before * share);
    sample.limited = true;
    r.control.on_ack(sample);
  };
  SECTION("all were late") {
    late(0.1);
    CHECK(r.control.window() >= before);
    CHECK(r.control.in_slow_start());
  }
  SECTION("less than half were late") {
    late(0.02);
    late(0.02);
    CHECK(r.control.window() < before);
    CHECK_FALSE(r.control.in_slow_start());
  }
  SECTION("it turns out long after") {
    r.play(6, r.base);
    late(0.1);
    CHECK_FALSE(r.control.in_slow_start());
  }
}
