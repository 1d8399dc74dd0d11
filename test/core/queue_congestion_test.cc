#include "core/queue_congestion.h"

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Plays rounds of 1 ms, each of `samples` acknowledgements, on a path of base delay 200 us whose
// queue holds no more than `room` packets of ours.
struct Rounds {
  void ack(Duration delay, double packets, double lost = 0) {
    AckSample sample{.now = now, .round_trip = 1ms, .fabric_delay_min = delay};
    sample.acked_packets = static_cast<std::uint32_t>(packets);
    sample.lost_packets = static_cast<std::uint32_t>(lost);
    sample.window_limited = limited;
    control.on_ack(sample);
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
  QueueCongestion control{15us};
  Duration base = 200us;
  Time now = time_from_ns(0);
  bool limited = true;
  Rng rng{1};
};

}  // namespace

TEST_CASE("jitter of twice the base delay does not hold the window down, however few the samples") {
  for (const int samples : {1, 2, 4, 16, 64}) {
    Rounds r;
    r.play_jitter(400, samples, 400us);
    INFO(samples << " samples per round");
    CHECK(r.control.window() > 2000);
  }
}

TEST_CASE("a queue above the target cuts the window, and a drain shows the empty path") {
  Rounds r;
  r.play(10, 200us);
  const double before = r.control.window();
  r.play(1, 700us);  // queue 500 us of a round trip of 1 ms
  CHECK(r.control.window() < 0.5 * before);
  r.play(1, 700us);
  const double after = r.control.window();
  CHECK(after >= 0.5 * before);
  CHECK(after <= 0.8 * before);
  r.play(1, 200us);  // what the drain has shown decides nothing
  CHECK(r.control.window() == after);
}

TEST_CASE("a base delay that grows by 2 ms is followed within twenty round trips") {
  Rounds r;
  r.play(20, 200us);
  const double before = r.control.window();
  r.play(20, 2200us);
  CHECK(r.control.base_delay() == 2200us);
  CHECK(r.control.window() >= before);
}

TEST_CASE("a single sample that is too small does not make the rest look like a queue") {
  Rounds r;
  r.play(10, 200us);
  const double before = r.control.window();
  r.play(1, 1us);
  r.play(10, 200us);
  CHECK(r.control.base_delay() == 200us);
  CHECK(r.control.window() > before);
}

TEST_CASE("the path's smallest sample counts, and not that of a slower path beside it") {
  Rounds r;
  for (int i = 0; i < 50; ++i) {
    r.now += 1ms;
    r.ack(200us, r.control.window() / 2);
    r.ack(600us, r.control.window() / 2);
  }
  CHECK(r.control.window() > 2000);
}
