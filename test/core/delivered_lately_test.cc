#include "core/congestion/queue/delivered_lately.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

TEST_CASE("the interval between packets is that of the last four rounds whose length is known") {
  DeliveredLately delivered;
  Time now = time_from_ns(5'000'000'000);
  CHECK(delivered.interval() == 0);
  delivered.add(now, 100);  // nobody knows since when
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
  CHECK(delivered.interval() == 1'003'000'000);  // none arrived: longer than all of it
}

TEST_CASE("the best of the last four rounds counts, the first too") {
  DeliveredLately delivered;
  Time now = time_from_ns(0);
  CHECK(delivered.most() == 0);
  CHECK(delivered.lossy_window() == 8);
  delivered.add(now, 7);
  CHECK(delivered.most() == 7);
  CHECK(delivered.usable_window() == 2 * 7 + 32);
  CHECK(delivered.usable_window(8) == 2 * 8 + 32);
  CHECK(delivered.lossy_window() == 1.25 * 7);
  for (int round = 0; round < 3; ++round)
    delivered.add(now += 1ms, 3);
  CHECK(delivered.most() == 7);
  delivered.add(now += 1ms, 3);
  CHECK(delivered.most() == 3);
}
