// Threshold arithmetic: worked examples, and invariants for any port.
#include "switch/plan/buffer/arithmetic.h"

#include "catch.h"
#include "switch/plan/units.h"

using namespace dlcp::fabric;

namespace {

PortFigures port_of(double gigabits, double senders = 4) {
  return {gigabits * 1e9, 12'000, senders, 4200, 254};
}

}  // namespace

TEST_CASE("A 400G port with four senders drops its levels at 150, 750 and 817 kB") {
  const auto depths = level_depths(port_of(400), {0.5, 0.3, 0.2}, false);
  REQUIRE(depths.size() == 3);
  CHECK(depths[0] == Approx(150'000));
  CHECK(depths[1] == Approx(750'000));
  CHECK(depths[2] == Approx(817'200));
  CHECK(bandwidth_delay_bytes(port_of(400)) == Approx(600'000));
  CHECK(ecn_knee_bytes(port_of(400)) == Approx(102'857).epsilon(0.001));
}

TEST_CASE("An 800G port drops its levels at 300, 1500 and 1567 kB") {
  const auto depths = level_depths(port_of(800), {0.5, 0.3, 0.2}, false);
  CHECK(depths[0] == Approx(300'000));
  CHECK(depths[1] == Approx(1'500'000));
  CHECK(depths[2] == Approx(1'567'200));
}

TEST_CASE("The dynamic limit is alpha B over one plus alpha N") {
  CHECK(dynamic_limit_bytes(113e6, 0, 16) == Approx(113e6 / 17));
  CHECK(dynamic_limit_bytes(142.7e6, -2, 16) == Approx(7.135e6));
  CHECK(dynamic_limit_bytes(20.6e6, -1, 16) == Approx(1.144e6).epsilon(0.001));
}

TEST_CASE("Slow ports never mark below sixteen packets") {
  CHECK(ecn_knee_bytes(port_of(1)) == Approx(16 * 4200));
  CHECK(level_depths(port_of(1), {1.0}, false).front() == Approx(16 * 4200));
}

TEST_CASE("If knee and drop share a threshold, the first level is dropped at the knee") {
  const auto depths = level_depths(port_of(400), {0.8, 0.2}, true);
  CHECK(depths[0] == Approx(ecn_knee_bytes(port_of(400))));
}

TEST_CASE("The depths of levels differ by at least sixteen packets, whatever their shares") {
  for (const double senders : {1.0, 2.0, 16.0, 1000.0}) {
    for (const double first : {0.01, 0.5, 0.99}) {
      const auto depths = level_depths(port_of(100, senders), {first, 1 - first}, false);
      CHECK(depths[1] - depths[0] >= 16 * 4200 - 1e-6);
    }
  }
}

TEST_CASE("Depths are rounded down to whole cells, but not to zero") {
  CHECK(rounded_to_cell(1000, 254) == 762);
  CHECK(rounded_to_cell(762, 254) == 762);
  CHECK(rounded_to_cell(1, 254) == 254);
  CHECK(rounded_to_cell(5, 0) == 5);
}

TEST_CASE("Sizes are printed with three significant digits") {
  CHECK(bytes_text(std::uint64_t{999}) == "999 B");
  CHECK(bytes_text(std::uint64_t{817'200}) == "817 kB");
  CHECK(bytes_text(std::uint64_t{1'540'000}) == "1.54 MB");
  CHECK(rate_text(400'000'000'000) == "400 Gb/s");
  CHECK(rate_text(2'500'000'000) == "2.5 Gb/s");
  CHECK(time_text(12'000) == "12 us");
}
