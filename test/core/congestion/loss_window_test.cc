#include "core/congestion/queue/loss_window.h"

#include "catch.h"

using namespace dlcp::core;

TEST_CASE("a loss rate is exceeded at two standard deviations plus one packet, and not before") {
  LossWindow window;
  window.add(91, 9);  // 2 expected of 100, plus 2 x sqrt(2), plus 1: 5.8
  CHECK(window.exceeds(0.02));
  window.clear();
  window.add(95, 5);
  CHECK_FALSE(window.exceeds(0.02));
  CHECK(window.share() == 0.05);
}

TEST_CASE("one or two losses never exceed the rate, however small the window") {
  LossWindow window;
  window.add(0, 1);
  CHECK_FALSE(window.exceeds(0.02));
  window.add(7, 1);
  CHECK_FALSE(window.exceeds(0.02));
}

TEST_CASE("the same loss rate has the same effect in small and large windows") {
  LossWindow small;
  LossWindow large;
  int small_at = 0;
  int large_at = 0;
  for (int packets = 10; packets <= 2000 && small_at == 0; packets += 10) {
    small.add(9, 1);
    if (small.exceeds(0.02)) small_at = packets;
  }
  for (int packets = 100; packets <= 2000 && large_at == 0; packets += 100) {
    large.add(90, 10);
    if (large.exceeds(0.02)) large_at = packets;
  }
  CHECK(small_at == 40);
  CHECK(large_at == 100);  // its first round
}

TEST_CASE("spurious losses are taken back") {
  LossWindow window;
  window.add(80, 20);
  CHECK(window.exceeds(0.02));
  window.add(20, -18);
  CHECK_FALSE(window.exceeds(0.02));
  window.add(0, -50);
  CHECK(window.share() == 0);
}

TEST_CASE("losses more than a few hundred packets ago are forgotten") {
  LossWindow window;
  window.add(100, 8);
  for (int i = 0; i < 10; ++i)
    window.add(128, 0);
  CHECK(window.share() < 0.001);
}
