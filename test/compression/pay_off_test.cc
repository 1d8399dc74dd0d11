// When compression is switched on and off, at the exact boundaries.
#include "compression/pay_off.h"

#include "catch.h"

using namespace dlcp::compression;

namespace {

// bf16 over a link of `gbit_per_s`, on a processor that sends 1 GiB/s and encodes 8 GB/s.
Measured at(double gbit_per_s, double ratio = 1.35) {
  return {.network_limited = true,
          .wire_bytes_per_s = gbit_per_s * 1e9 / 8,
          .send_s_per_byte = 1e-9,
          .encode_s_per_byte = 0.125e-9,
          .ratio = ratio};
}

}  // namespace

TEST_CASE("on a slow link the gain is the ratio", "[pay_off]") {
  CHECK(gain_of(at(1), false) == Approx(1.35));
  CHECK(gain_of(at(1, 2.5), false) == Approx(2.5));
}

TEST_CASE("if the processor is the limit, the gain is less than the ratio and may be a loss",
          "[pay_off]") {
  Measured measured = at(100);  // 12.5 GB/s: the processor sends 1 GB/s
  CHECK(gain_of(measured, false) == Approx(1 / (1 / 1.35 + 0.125)));
  measured.encode_s_per_byte = 0.5e-9;
  CHECK(gain_of(measured, false) < 1);
  measured.ratio = 1;
  CHECK(gain_of(measured, false) == 1);
}

TEST_CASE("three intervals in a row switch it on, and two do not", "[pay_off]") {
  PayOff pay_off;
  CHECK_FALSE(pay_off.add(at(1)));
  CHECK_FALSE(pay_off.add(at(1)));
  CHECK_FALSE(pay_off.add(at(1, 1.0)));  // interrupts the row
  CHECK_FALSE(pay_off.add(at(1)));
  CHECK_FALSE(pay_off.add(at(1)));
  CHECK_FALSE(pay_off.on());
  CHECK(pay_off.add(at(1)));
  CHECK(pay_off.on());
}

TEST_CASE("it is not switched on while the application is the limit", "[pay_off]") {
  PayOff pay_off;
  Measured measured = at(1);
  measured.network_limited = false;
  measured.delivered_bytes_per_s = measured.wire_bytes_per_s;
  for (int i = 0; i < 100; ++i)
    CHECK_FALSE(pay_off.add(measured));
}

TEST_CASE("a byte that costs the processor much is worth compressing, a cheap one is not",
          "[pay_off]") {
  Measured measured{.backlogged = true,
                    .delivered_bytes_per_s = 0.4e9,  // 2.5 ns, as packets cost that are cut early
                    .send_s_per_byte = 0.3e-9,
                    .encode_s_per_byte = 0.125e-9,
                    .ratio = 1.35};
  CHECK(gain_of(measured, false) == Approx(2.5 / (2.5 / 1.35 + 0.125)));
  measured.delivered_bytes_per_s = 2.5e9;
  CHECK(gain_of(measured, false) < PayOff::kGainOn);
  // With compression, a part of the time is for compressing.
  const double with = 0.4 / 1.35 + 0.125;
  measured.delivered_bytes_per_s = 1e9 / (1.35 * with);
  CHECK(gain_of(measured, true) == Approx(0.4 / with));
}

TEST_CASE("a gain between the two thresholds changes nothing", "[pay_off]") {
  PayOff off;
  PayOff on;
  for (int i = 0; i < PayOff::kIntervals; ++i)
    on.add(at(1));
  REQUIRE(on.on());
  for (int i = 0; i < 100; ++i) {
    off.add(at(1, 1.06));
    on.add(at(1, 1.06));
  }
  CHECK_FALSE(off.on());
  CHECK(on.on());
}

TEST_CASE("three intervals without a gain switch it off", "[pay_off]") {
  PayOff pay_off;
  for (int i = 0; i < PayOff::kIntervals; ++i)
    pay_off.add(at(1));
  REQUIRE(pay_off.on());
  CHECK_FALSE(pay_off.add(at(1, 1.02)));
  CHECK_FALSE(pay_off.add(at(1, 1.02)));
  CHECK(pay_off.add(at(1, 1.02)));
  CHECK_FALSE(pay_off.on());
}
