#include "core/flow_control/send_window.h"

#include "catch.h"
#include "core/flow_control/credit_pool.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {
constexpr Time t0 = time_from_ns(1'000'000'000);
constexpr double kWide = 1e6;  // a congestion window that never limits
}  // namespace

TEST_CASE("the smaller of credit and congestion window is the limit") {
  SendWindow window;
  window.open(10, 0, 1ms);
  CHECK(window.limit(kWide) == 10);
  CHECK(window.limit(4.5) == 4.5);
}

TEST_CASE("one packet may be in flight even if the congestion window is a fraction") {
  SendWindow window;
  window.open(10, 0, 1ms);
  CHECK(window.limit(0.25) == 0.25);
  CHECK(window.most(0.25) == 1);
}

TEST_CASE("the epoch is the one of the credit in use") {
  SendWindow window;
  window.open(10, 65535, 1ms);
  window.on_credit(20, 0);
  CHECK(window.limit(kWide) == 20);
  CHECK(window.epoch() == 0);
}

TEST_CASE("the credit is never less than one packet") {
  SendWindow window;
  window.open(0, 0, 1ms);
  CHECK(window.limit(kWide) == 1);
  window.on_credit(0, 1);
  CHECK(window.limit(kWide) == 1);
}

TEST_CASE("the share is given up when nothing was in flight for the lease, and not before") {
  SendWindow window;
  window.open(4, 0, 1ms);
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
  window.open(4, 0, 1ms);
  window.on_credit(100, 1);
  window.on_sent(t0);
  window.on_burst(t0 + 10s);
  CHECK(window.limit(kWide) == 100);
}

TEST_CASE("settling more packets than were in flight breaks an invariant") {
  SendWindow window;
  window.on_sent(t0);
  CHECK_THROWS_AS(window.on_settled(2), BrokenInvariant);
  CHECK(window.in_flight() == 1);
}

TEST_CASE("packets stopped by the credit do not count as limited by the congestion window") {
  SendWindow window;
  window.open(2, 0, 1ms);
  window.on_sent(t0);
  window.on_sent(t0);
  window.note_stopped(2.5, 1);
  CHECK_FALSE(window.take_limited());
  window.note_stopped(2, 1);
  CHECK(window.take_limited());
  CHECK_FALSE(window.take_limited());
}

TEST_CASE("a sender without credit for a message beyond the eager allowance is starved") {
  SendWindow window;
  window.open(2, 0, 1ms);
  window.on_sent(t0);
  window.on_sent(t0);
  window.note_stopped(kWide, 1);  // the message fits into the allowance
  CHECK_FALSE(window.starved());
  window.note_stopped(2, 3);  // the congestion window is the limit
  CHECK_FALSE(window.starved());
  window.note_stopped(kWide, 3);
  CHECK(window.starved());
  window.on_credit(5, 1);
  window.on_sent(t0);
  CHECK_FALSE(window.starved());
  window.on_sent(t0);
  window.on_sent(t0);
  window.note_stopped(kWide, 3);  // the receiver has granted more, and is slow
  CHECK_FALSE(window.starved());
}

namespace {

// Plays rounds of acknowledgements; each acknowledges as many packets as the limit allows.
double limit_after(SendWindow& window, int rounds, Duration fabric) {
  for (int round = 1; round <= rounds; ++round) {
    const auto packets = static_cast<std::uint32_t>(window.limit(kWide));
    window.on_delivered(t0 + round * fabric, packets, fabric);
  }
  return window.limit(kWide);
}

}  // namespace

TEST_CASE("on a long path twice the packets read are granted") {
  SendWindow window;
  window.open(1000, 0, 1ms);
  window.on_delivered(t0, 1500, 10ms);
  CHECK(window.limit(kWide) == 3000);
}

TEST_CASE("a path of 100 ms and 10 Gbit/s is filled within ten round trips") {
  SendWindow window;
  window.open(1000, 0, 1ms);
  CHECK(limit_after(window, 10, 100ms) * 1024 >= 125e6);
}

TEST_CASE("on a path that the socket buffers cover the credit stays the limit") {
  SendWindow window;
  window.open(1000, 0, 1ms);
  // The share of 4 variations of a constant sample decays slowly; 50 us + 4 x 25 us stay below 200
  // us.
  CHECK(limit_after(window, 100, 50us) == 1000);
}

TEST_CASE("if the handshake was quick, a longer delay is a queue and grants nothing") {
  SendWindow near;
  near.open(2, 0, SendWindow::kQuick - 1ns);
  CHECK(limit_after(near, 100, 10ms) == 2);
  SendWindow far;
  far.open(2, 0, SendWindow::kQuick);
  CHECK(limit_after(far, 100, 10ms) > 2);
}

TEST_CASE("one slow round does not narrow the window, four do") {
  SendWindow window;
  window.open(100, 0, 1ms);
  window.on_delivered(t0, 1500, 10ms);
  for (int round = 1; round <= 3; ++round) {
    window.on_delivered(t0 + round * 1s, 100, 10ms);
    CHECK(window.limit(kWide) == 3000);
  }
  window.on_delivered(t0 + 4s, 100, 10ms);
  CHECK(window.limit(kWide) == 200);
}

TEST_CASE("the lease is extended by two round trips of the path") {
  SendWindow window;
  window.open(4, 0, 1ms);
  window.on_credit(1000, 1);
  window.on_sent(t0);
  window.on_settled(1);
  window.on_delivered(t0 + 100ms, 1, 100ms);
  window.on_burst(t0 + kWindowLease + 200ms);
  CHECK(window.limit(kWide) == 1000);
  window.on_burst(t0 + kWindowLease + 200ms + 1ns);
  CHECK(window.limit(kWide) == 4);
}

TEST_CASE("after a pause the larger window of a long path is gone") {
  SendWindow window;
  window.open(4, 0, 1ms);
  window.on_credit(1000, 1);
  limit_after(window, 5, 10ms);
  REQUIRE(window.limit(kWide) > 1000);
  window.on_burst(t0 + 10s);
  CHECK(window.limit(kWide) == 4);
}

TEST_CASE("one packet per half window requests an ACK while the other half is in flight") {
  SendWindow window;
  window.open(1000, 0, 1ms);
  std::string asked;
  for (int i = 0; i < 16; ++i) {
    asked += window.asks_ack(t0 + i * 10us, 16) ? '!' : '.';
    window.on_sent(t0);
  }
  CHECK(asked == ".......!.......!");
  // The packet that fills the window requests an ACK although the half before did: that request may
  // be lost.
  window.on_settled(13);
  asked.clear();
  for (int i = 0; i < 13; ++i) {
    asked += window.asks_ack(t0 + 1ms, 16) ? '!' : '.';
    window.on_sent(t0);
  }
  CHECK(asked == ".......!....!");
  // But not with every packet.
  asked.clear();
  for (int i = 0; i < 8; ++i) {
    window.on_settled(1);
    asked += window.asks_ack(t0 + 1ms, 16) ? '!' : '.';
    window.on_sent(t0);
  }
  CHECK(asked == "...!...!");
  window.on_settled(16);
  CHECK_FALSE(window.asks_ack(t0 + 1s, 16));  // the sender is not held up
  SendWindow small;
  small.open(1, 0, 1ms);
  CHECK(small.asks_ack(t0, 0.5));
  CHECK_FALSE(small.asks_ack(t0 + SendWindow::kAskEvery - 1ns, 0.5));
  CHECK(small.asks_ack(t0 + SendWindow::kAskEvery, 0.5));
}

TEST_CASE("packets that are sent together request the ACKs that they would request one by one") {
  for (const double window_packets : {0.5, 3.0, 16.0, 37.5, 100.0}) {
    for (std::uint32_t settled = 0; settled <= 12; settled += 3) {
      INFO("window " << window_packets << ", " << settled << " settled");
      SendWindow single, run;
      std::string one_by_one, together(60, '.');
      for (SendWindow* window : {&single, &run}) {
        window->open(1000, 0, 1ms);
        window->on_sent(t0, 20);
        window->on_settled(settled);
      }
      for (int i = 0; i < 60; ++i) {
        one_by_one += single.asks_ack(t0 + 1s, window_packets) ? '!' : '.';
        single.on_sent(t0 + 1s);
      }
      for (std::size_t begin = 0; begin < 60; begin += 20) {
        auto terms = run.ask_terms(t0 + 1s, window_packets);
        for (std::size_t i = 0; i < 20; ++i) {
          i = run.next_asking(t0 + 1s, terms, i, 20);
          if (i < 20) together[begin + i] = '!';
        }
        run.on_sent(t0 + 1s, 20);
      }
      CHECK(together == one_by_one);
      CHECK(single.in_flight() == run.in_flight());
    }
  }
}

// Where a round trip is shorter than kAskEvery, a window must not wait for kAskEvery.
TEST_CASE("on a short path a packet requests an ACK every half round trip") {
  SendWindow window;
  window.open(1000, 0, 1ms);
  limit_after(window, 5, 12us);
  CHECK(window.asks_ack(t0 + 1s, 0.5));
  CHECK_FALSE(window.asks_ack(t0 + 1s + 6us - 1ns, 0.5));
  CHECK(window.asks_ack(t0 + 1s + 6us, 0.5));
}

TEST_CASE("a grant below the reserve applies only on a short path") {
  SendWindow window;
  window.open(16, 0, 1ms);
  window.on_delivered(t0, 1, 100us);
  window.on_credit(4, 1);
  CHECK(window.limit(kWide) == 16);
  window.on_delivered(t0 + 1ms, 1, SendWindow::kQuick - 1ns);
  CHECK(window.limit(kWide) == 4);
  window.on_delivered(t0 + 2ms, 1, 100us);  // a queue
  CHECK(window.limit(kWide) == 4);
}
