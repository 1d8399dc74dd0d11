// Which packets are retransmitted and when, to the nanosecond.
#include "collective/switchml/worker/switch_repair.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::collective;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);

// In a call that has begun; round trips take 100 us, and the timeout for silence is 300 us.
SwitchRepair measured(std::uint32_t slots) {
  SwitchRepair repair(slots, 1ms);
  repair.on_call();
  repair.on_sent(0, kStart - 200us);
  repair.on_answer(0, kStart - 200us, true);
  repair.on_sent(0, kStart - 100us);
  repair.on_answer(0, kStart, false);
  return repair;
}

}  // namespace

TEST_CASE("nothing is due if no answer is outstanding") {
  SwitchRepair repair(2, 1ms);
  CHECK(repair.deadline() == kNever);
  repair.on_call();
  CHECK_FALSE(repair.due(kStart));
  repair.on_sent(1, kStart);
  CHECK(repair.waits_for(1));
  CHECK_FALSE(repair.waits_for(0));
  repair.on_answer(1, kStart + 10us, true);
  CHECK_FALSE(repair.waits_for(1));
  CHECK(repair.deadline() == kNever);
}

TEST_CASE("a packet that later ones have overtaken is sent again a quarter round trip later") {
  auto repair = measured(2);
  repair.on_sent(0, kStart);
  repair.on_sent(1, kStart + 1us);
  repair.on_answer(1, kStart + 101us, false);
  CHECK(repair.allowance() == 25us);
  CHECK(repair.deadline() == kStart + 125us);
  CHECK_FALSE(repair.due(kStart + 125us - 1ns));
  CHECK(repair.due(kStart + 125us) == 0u);
}

TEST_CASE("a packet overtaken by one sent much later is sent again at once") {
  auto repair = measured(2);
  repair.on_sent(0, kStart);
  repair.on_sent(1, kStart + 25us);
  CHECK_FALSE(repair.due(kStart + 125us - 1ns));
  repair.on_answer(1, kStart + 125us, false);
  CHECK(repair.due(kStart + 125us) == 0u);
  repair.on_sent(0, kStart + 125us);
  CHECK_FALSE(repair.due(kStart + 125us));  // the answered packet is older than the retransmission
}

TEST_CASE(
    "after silence only the oldest packet is sent again, and the first repeat doubles no timeout") {
  auto repair = measured(2);
  repair.on_sent(0, kStart);
  repair.on_sent(1, kStart);
  Time now = kStart;
  std::uint32_t slot = 0;
  // 100 us plus four times half of it; then twice as long each time, 4 ms at most.
  for (const Duration wait : {300us, 300us, 600us, 1200us, 2400us, 4000us, 4000us}) {
    CHECK(repair.deadline() == now + wait);
    CHECK_FALSE(repair.due(now + wait - 1ns));
    now += wait;
    CHECK(repair.due(now) == slot);
    repair.on_sent(slot, now);
    CHECK_FALSE(repair.due(now));
    slot = 1 - slot;
  }
  repair.on_answer(0, now + 100us, false);
  CHECK(repair.deadline() <= now + 500us);  // an answer ends the doubling
}

TEST_CASE(
    "arriving answers postpone the timeout, and a burst's own queue lengthens it only a little") {
  auto repair = measured(100);
  for (std::uint32_t slot = 0; slot < 100; ++slot)
    repair.on_sent(slot, kStart);
  Time now = kStart + 100us;
  for (std::uint32_t slot = 0; slot < 99; ++slot) {
    CHECK_FALSE(repair.due(now));
    repair.on_answer(slot, now, false);
    now += 50us;  // 5 ms for all of them
  }
  // The last answer arrived 50 us ago, 5 ms after the outstanding packets were sent.
  CHECK(repair.deadline() == now - 50us + 625us);
}

TEST_CASE("the answer to a retransmitted tail packet shows which others are lost") {
  auto repair = measured(4);
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    repair.on_sent(slot, kStart);
  const Time probed = kStart + 300us;
  CHECK(repair.due(probed) == 0u);
  repair.on_sent(0, probed);
  const Time answered = probed + 100us;
  SECTION("if it took a round trip") {
    repair.on_answer(0, answered, false);
    for (const std::uint32_t slot : {1u, 2u, 3u}) {
      CHECK(repair.due(answered) == slot);
      repair.on_sent(slot, answered);
    }
    CHECK_FALSE(repair.due(answered));
  }
  SECTION("but not if it answers the first transmission") {
    repair.on_answer(0, answered - 1ns, false);
    CHECK_FALSE(repair.due(answered));
    CHECK(repair.deadline() > answered + 400us);  // the timeout is longer than assumed
  }
}

TEST_CASE("each answer allows two retransmissions") {
  SwitchRepair repair(20, 1ms);
  repair.on_call();
  for (std::uint32_t slot = 0; slot < 20; ++slot)
    repair.on_sent(slot, kStart + slot * 300us);
  const Time now = kStart + 19 * 300us + 100us;
  repair.on_answer(19, now, true);
  int repairs = 0;
  for (auto slot = repair.due(now); slot; slot = repair.due(now)) {
    repair.on_sent(*slot, now);
    ++repairs;
  }
  CHECK(repairs == 2);
  repair.on_answer(18, now, true);
  CHECK(repair.due(now) == 2u);
}

TEST_CASE("the time until other workers begin gives no sample, and the timeout stays short") {
  SwitchRepair repair(1, 1ms);
  for (int call = 0; call < 2; ++call) {
    repair.on_call();
    repair.on_sent(0, kStart);
    Time now = kStart;
    for (const Duration wait : {1ms, 1ms, 2ms, 4ms, 4ms, 4ms}) {
      now += wait;
      CHECK_FALSE(repair.due(now - 1ns));
      CHECK(repair.due(now) == 0u);
      repair.on_sent(0, now);
    }
    repair.on_answer(0, now, true);
    repair.on_sent(0, now);
    CHECK(repair.deadline() == now + 1ms);
    repair.on_call();  // outstanding packets are forgotten
    CHECK(repair.deadline() == kNever);
  }
}

TEST_CASE("a late packet widens the allowed delay, and necessary retransmissions narrow it") {
  auto repair = measured(2);
  repair.on_sent(0, kStart);
  repair.on_sent(1, kStart + 1us);
  repair.on_answer(1, kStart + 101us, false);
  CHECK(repair.due(kStart + 125us) == 0u);
  repair.on_sent(0, kStart + 125us);
  repair.on_answer(0, kStart + 140us, false);  // expected at 100 us
  CHECK(repair.allowance() == 50us);
  Time now = kStart + 1ms;
  for (int loss = 0; loss < 3; ++loss) {
    repair.on_sent(0, now);
    repair.on_sent(1, now + 60us);
    repair.on_answer(1, now + 160us, false);
    CHECK(repair.due(now + 160us) == 0u);
    repair.on_sent(0, now + 160us);
    repair.on_answer(0, now + 260us, false);
    now += 1ms;
  }
  CHECK(repair.allowance() < 40us);
  CHECK(repair.allowance() > 25us);
}
