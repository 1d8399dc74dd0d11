#include <atomic>
#include <thread>

#include "catch.h"
#include "cli/measure/quartiles.h"
#include "cli/measure/thread_cpu.h"

using namespace dlcp::cli;

TEST_CASE("quartiles lie between the measurements that enclose them") {
  const Quartiles q = quartiles_of({4, 1, 3, 2});
  CHECK(q.low == Approx(1.75));
  CHECK(q.median == Approx(2.5));
  CHECK(q.high == Approx(3.25));
  CHECK(quartiles_of({7}).low == 7);
  CHECK(quartiles_of({7}).high == 7);
  CHECK(quartiles_of({}).median == 0);
}

TEST_CASE("the CPU time of chosen threads does not include that of others") {
  const Threads before = threads_of_process();
  CHECK(before.size() >= 1);
  std::atomic<bool> stop{false};
  std::atomic<bool> worked{false};
  std::thread other([&] {
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 20'000'000; i++)
      sum = sum + i;
    worked = true;
    while (!stop)
      std::this_thread::yield();
  });
  const Threads added = new_threads(before, threads_of_process());
  CHECK(added.size() == 1);
  const double mine = cpu_seconds_of(before);
  while (!worked)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(cpu_seconds_of(added) > 0.002);
  CHECK(cpu_seconds_of(before) - mine < cpu_seconds_of(added));
  stop = true;
  other.join();
  for (int tries = 0; tries < 5000 && cpu_seconds_of(added) > 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until the kernel has removed it
  CHECK(cpu_seconds_of(added) == 0);
}
