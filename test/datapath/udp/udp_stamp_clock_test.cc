#include <vector>

#include "catch.h"
#include "datapath/udp/receive/stamp_clock.h"

using namespace dlcp;
using namespace dlcp::datapath;

namespace {

std::vector<StampClock::Reading> readings;  // in the order in which they are made
std::size_t made = 0;

StampClock::Reading next_reading() {
  REQUIRE(made < readings.size());
  return readings[made++];
}

// A clock that returns these readings.
StampClock clock_with(std::vector<StampClock::Reading> planned) {
  readings = std::move(planned);
  made = 0;
  return StampClock(next_reading);
}

constexpr std::int64_t kMs = 1'000'000;
constexpr Time t0 = time_from_ns(1000 * kMs);

}  // namespace

TEST_CASE("a time stamp is converted by the difference of the clocks, to the middle of a reading") {
  StampClock clock = clock_with({{1000 * kMs, 7000 * kMs, 1000 * kMs + 100}});
  clock.refresh(t0);
  CHECK(clock.at(t0, 7000 * kMs) == t0 + 50ns);
  CHECK(clock.at(t0, 6999 * kMs) == t0 - 1ms + 50ns);
}

TEST_CASE("readings split by an interruption are repeated, and the closest pair counts") {
  StampClock clock = clock_with({{1000 * kMs, 7003 * kMs, 1003 * kMs},
                                 {1003 * kMs, 7003 * kMs, 1003 * kMs + 1001},
                                 {1004 * kMs, 7004 * kMs, 1004 * kMs + 1000}});
  clock.refresh(t0);
  CHECK(made == 3);
  CHECK(clock.at(t0, 7000 * kMs) == t0 + 500ns);
}

TEST_CASE(
    "if no reading is close, the previous difference is kept and a new one is tried at once") {
  const StampClock::Reading close{1000 * kMs, 7000 * kMs, 1000 * kMs};
  const StampClock::Reading apart{2000 * kMs, 8002 * kMs, 2000 * kMs + 10'001};
  StampClock clock = clock_with({close, apart, apart, apart, apart, close});
  clock.refresh(t0);
  clock.refresh(t0 + 1ms);
  CHECK(made == 5);
  CHECK(clock.at(t0, 7000 * kMs) == t0);
  clock.refresh(t0 + 1ms);
  CHECK(made == 6);
}

TEST_CASE("the clocks are read once per millisecond, not more often") {
  const StampClock::Reading close{1000 * kMs, 7000 * kMs, 1000 * kMs};
  StampClock clock = clock_with({close, close});
  clock.refresh(t0);
  clock.refresh(t0 + 1ms - 1ns);
  CHECK(made == 1);
  clock.refresh(t0 + 1ms);
  CHECK(made == 2);
}

TEST_CASE("a time stamp may be later than the caller's clock, but never by a second") {
  StampClock clock = clock_with({{1000 * kMs, 7000 * kMs, 1000 * kMs}});
  clock.refresh(t0);
  CHECK(clock.at(t0, 7003 * kMs) == t0 + 3ms);
  CHECK(clock.at(t0, 9000 * kMs) == t0 + 1s);
  CHECK(clock.at(t0, 1000 * kMs) == t0 - 1s);
}

TEST_CASE("the kernel's clocks can be read") {
  const auto reading = StampClock::read_clocks();
  CHECK(reading.before > 0);
  CHECK(reading.after >= reading.before);
  CHECK(reading.realtime > reading.after);  // this machine booted after 1970
}
