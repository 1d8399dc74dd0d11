#include "core/send_window.h"

#include "catch.h"
#include "core/credit_pool.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {
constexpr Time t0 = time_from_ns(1'000'000'000);
constexpr double kWide = 1e6;  // a congestion window that limits nothing
}  // namespace

TEST_CASE("the smaller of credit and congestion window is the limit") {
  SendWindow window;
  window.open(10, 0);
  CHECK(window.limit(kWide) == 10);
  CHECK(window.limit(4.5) == 4.5);
}

TEST_CASE("one packet may be in flight though the congestion window is a fraction") {
  SendWindow window;
  window.open(10, 0);
  CHECK(window.limit(0.25) == 0.25);
  CHECK(window.most(0.25) == 1);
}

TEST_CASE("a credit of an older epoch is ignored, also where epochs wrap") {
  SendWindow window;
  window.open(10, 255);
  window.on_credit(20, 0);
  CHECK(window.limit(kWide) == 20);
  window.on_credit(30, 255);
  CHECK(window.limit(kWide) == 20);
  CHECK(window.epoch() == 0);
  window.on_credit(25, 0);
  CHECK(window.limit(kWide) == 25);
}

TEST_CASE("no credit is less than one packet") {
  SendWindow window;
  window.open(0, 0);
  CHECK(window.limit(kWide) == 1);
  window.on_credit(0, 1);
  CHECK(window.limit(kWide) == 1);
}

TEST_CASE("the share is given up after the lease with nothing in flight, not before") {
  SendWindow window;
  window.open(4, 0);
  window.on_credit(100, 1);
  window.on_sent(t0);
  window.on_settled(1);
  window.on_burst(t0 + kWindowLease);
  CHECK(window.limit(kWide) == 100);
  window.on_burst(t0 + kWindowLease + 1ns);
  CHECK(window.limit(kWide) == 4);
}

TEST_CASE("the share is kept while something is in flight") {
  SendWindow window;
  window.open(4, 0);
  window.on_credit(100, 1);
  window.on_sent(t0);
  window.on_burst(t0 + 10s);
  CHECK(window.limit(kWide) == 100);
}

TEST_CASE("more settled than was in flight leaves nothing in flight") {
  SendWindow window;
  window.on_sent(t0);
  window.on_settled(2);
  CHECK(window.in_flight() == 0);
}

TEST_CASE("having been limited is told once") {
  SendWindow window;
  CHECK_FALSE(window.take_limited());
  window.note_limited();
  CHECK(window.take_limited());
  CHECK_FALSE(window.take_limited());
}
