#include "core/congestion/queue/buffer_rival.h"

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Duration kBase = 200us;

AckSample round_of(double packets, double lost) {
  AckSample round;
  round.acked = packets - lost;
  round.lost = lost;
  return round;
}

// The saw-tooth of a TCP flow: a queue that grows to `full` in 40 rounds and then drops a few
// packets.
struct SawTooth {
  void play(int rounds, Duration full, Duration base = kBase, double window = 170) {
    for (int i = 0; i < rounds; ++i) {
      phase = (phase + 1) % 40;
      const Duration queue = full * phase / 40;
      rival.end_round(round_of(window, phase >= 38 ? 4 : 0), base + queue, base, window,
                      believable);
      dropped += rival.dropped();
    }
  }
  BufferRival rival;
  int phase = 0;
  int dropped = 0;  // rounds
  bool believable = true;
};

}  // namespace

TEST_CASE("losses that coincide with a long queue reveal a rival") {
  SawTooth s;
  s.play(200, 100us);
  CHECK(s.rival.present());
  CHECK(s.dropped == 10);  // two rounds of each forty
}

TEST_CASE("random losses reveal no rival, however the queue varies") {
  for (const double share : {0.001, 0.01, 0.05}) {
    BufferRival rival;
    Rng rng(7);
    int present = 0;
    for (int i = 0; i < 20000; ++i) {
      double lost = 0;
      for (int k = 0; k < 170; ++k)
        lost += rng.unit() < share;
      rival.end_round(round_of(170, lost), kBase + 100us * (i % 40) / 40, kBase, 170, true);
      present += rival.present();
    }
    INFO(share << " lost");
    // A detection holds for 256 rounds; at most five false ones may occur in three thousand lossy
    // rounds.
    CHECK(present <= 5 * 256);
  }
}

TEST_CASE("beside a rival, random losses are told apart from those of a full buffer") {
  BufferRival rival;
  Rng rng(7);
  int late = 0, early = 0, full = 0;
  for (int i = 0; i < 20000; ++i) {
    const int phase = i % 40;
    double lost = phase >= 38 ? 12 : 0;
    for (int k = 0; k < 170; ++k)
      lost += rng.unit() < 0.01;
    rival.end_round(round_of(170, lost), kBase + 100us * phase / 40, kBase, 170, true);
    if (i < 2000 || !rival.dropped()) continue;
    ++(phase >= 38 ? full : phase >= 20 ? late : early);
  }
  CHECK(full >= 880);  // of 900
  CHECK(early <= 20);  // of 9,000
  CHECK(late <= 600);  // of 8,100
}

TEST_CASE("losses with a queue below a quarter of the base delay reveal no rival") {
  SawTooth s;
  s.play(200, 40us);
  CHECK_FALSE(s.rival.present());
}

TEST_CASE("senders slower than their path have no rival") {
  SawTooth s;
  s.play(200, 40us, 20us, 17);
  CHECK_FALSE(s.rival.present());
}

TEST_CASE("jitter that hides queues also hides rivals") {
  SawTooth s;
  s.play(200, 100us);
  s.believable = false;
  s.play(1, 100us);
  CHECK_FALSE(s.rival.present());
}

TEST_CASE("a rival counts as gone after two windows of rounds without losses, 256 at most") {
  for (const auto& [window, rounds] : {std::pair{20.0, 40}, {100.0, 200}, {10000.0, 256}}) {
    SawTooth s;
    s.play(199, 100us, kBase, window);  // ends at the full buffer
    REQUIRE(s.rival.present());
    for (int i = 0; i < rounds - 1; ++i)
      s.rival.end_round(round_of(window, 0), kBase, kBase, window, true);
    INFO("window of " << window);
    CHECK(s.rival.present());
    s.rival.end_round(round_of(window, 0), kBase, kBase, window, true);
    CHECK_FALSE(s.rival.present());
  }
}

TEST_CASE("spurious losses, and rounds without samples, change nothing") {
  BufferRival rival;
  for (int i = 0; i < 100; ++i) {
    AckSample round = round_of(170, 0);
    if (i % 3 == 0) round = {};
    round.spurious = i % 40 >= 38 ? 4 : 0;
    const Duration mean = i % 3 == 0 ? 0us : kBase + 100us * (i % 40) / 40;
    rival.end_round(round, mean, kBase, 170, true);
    CHECK_FALSE(rival.present());
    CHECK_FALSE(rival.dropped());
  }
}
