#include "core/congestion/queue/tcp_window.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Duration kRound = 1ms;

struct Rounds {
  explicit Rounds(double packets) { window.begin(now, packets); }
  void play(int rounds, bool lost = false) {
    for (int i = 0; i < rounds; ++i)
      window.on_round(now += kRound, kRound, lost);
  }
  TcpWindow window;
  Time now = time_from_ns(0);
};

}  // namespace

TEST_CASE("a loss leaves seven tenths, and the losses of one event count once") {
  Rounds r(100);
  r.play(1, true);  // too soon after the beginning
  const double before = r.window.packets();
  CHECK(before >= 100);
  r.play(1, true);
  const double after = r.window.packets();
  CHECK(after == Approx(0.7 * before));
  r.play(1, true);
  CHECK(r.window.packets() >= after);
  r.play(1, true);
  CHECK(r.window.packets() == Approx(0.7 * after).epsilon(0.02));
}

TEST_CASE("on a short path the window grows as Reno's would, by about half a packet per round") {
  Rounds r(100);
  r.play(2, true);
  r.play(40);
  CHECK(r.window.packets() == Approx(70 + 40 * 0.9 / 1.7).epsilon(0.01));
}

TEST_CASE("on a long path the window recovers after the cube root of the cut") {
  Rounds r(1000);
  r.play(2, true);
  r.play(9085);  // seconds / 1000: cbrt(300 / 0.4) = 9.086
  CHECK(r.window.packets() >= 1000 * 0.999);
}

TEST_CASE("the window is never below two packets") {
  Rounds r(2);
  r.play(10, true);
  CHECK(r.window.packets() >= 2);
}
