#include "core/congestion/queue/delivered_lately.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

TEST_CASE("the packet interval is that of the last four rounds of known length") {
  DeliveredLately delivered;
  Time now = time_from_ns(5'000'000'000);
  CHECK(delivered.interval() == 0);
  delivered.add(now, 100);  // the length of this round is unknown
  CHECK(delivered.interval() == 0);
  delivered.add(now += 1ms, 10);
  CHECK(delivered.interval() == 100'000);
  delivered.add(now += 3ms, 0);  // a pause counts
  CHECK(delivered.interval() == 400'000);
  for (int round = 0; round < 4; ++round)
    delivered.add(now += 1ms, 4);
  CHECK(delivered.interval() == 250'000);
  delivered.add(now += 1s, 0);
  for (int round = 0; round < 3; ++round)
    delivered.add(now += 1ms, 0);
  CHECK(delivered.interval() == 1'003'000'000);  // none arrived: longer than all four rounds
}

TEST_CASE("the best of the last four rounds counts, also the first round") {
  DeliveredLately delivered;
  Time now = time_from_ns(0);
  CHECK(delivered.most() == 0);
  CHECK(delivered.lossy_window() == 8);
  delivered.add(now, 7);
  CHECK(delivered.most() == 7);
  CHECK(delivered.usable_window() == 2 * 7 + 32);
  CHECK(delivered.lossy_window() == 1.25 * 7);
  for (int round = 0; round < 3; ++round)
    delivered.add(now += 1ms, 3);
  CHECK(delivered.most() == 7);
  delivered.add(now += 1ms, 3);
  CHECK(delivered.most() == 3);
}
