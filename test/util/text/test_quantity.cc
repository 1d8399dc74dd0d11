// Which texts are sizes, shares, times and counts, and which are not.
#include "catch.h"
#include "util/text/quantity.h"
#include "util/text/similar.h"

using namespace dlcp;

TEST_CASE("sizes are powers of 1024, or of 1000 with a B, in either case") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("64") == 64);
  CHECK(parse_bytes("64k") == 65536);
  CHECK(parse_bytes("64K") == 65536);
  CHECK(parse_bytes("64KiB") == 65536);
  CHECK(parse_bytes("64kB") == 64000);
  CHECK(parse_bytes("1MB") == 1000000);
  CHECK(parse_bytes("3MiB") == 3145728);
  CHECK(parse_bytes("2g") == std::uint64_t{2} << 30);
  CHECK(parse_bytes("16777215T") == std::uint64_t{16777215} << 40);
  for (const char* bad : {"", "k", "K", "-1", "+1", "1.5M", "64b", "64Kb", "64KIB", "1 M", "1P",
                          "1KK", "16777216T", "18446744073709551616", "0x10", "nan"}) {
    INFO(bad);
    CHECK_FALSE(parse_bytes(bad));
  }
}

TEST_CASE("shares are fractions or percentages, and NaN is refused") {
  CHECK(*parse_share("0.01") == Approx(0.01));
  CHECK(*parse_share("1%") == Approx(0.01));
  CHECK(*parse_share("0.5%") == Approx(0.005));
  CHECK(*parse_share("1e-3") == Approx(0.001));
  CHECK(*parse_share("0") == 0);
  for (const char* bad :
       {"", "%", "-0.1", "-0", "nan", "nan%", "inf", "-nan", "1%%", "1 %", "x", "0,5", "1e999"}) {
    INFO(bad);
    CHECK_FALSE(parse_share(bad));
  }
}

TEST_CASE("times have a unit, or else the caller's") {
  CHECK(parse_duration("30", std::chrono::seconds(1)) == std::chrono::seconds(30));
  CHECK(parse_duration("30", 1us) == 30us);
  CHECK(parse_duration("200us", std::chrono::seconds(1)) == 200us);
  CHECK(parse_duration("1.5s", 1us) == 1500ms);
  CHECK(parse_duration("2min", 1us) == std::chrono::minutes(2));
  CHECK(parse_duration("1h", 1us) == std::chrono::hours(1));
  CHECK(parse_duration("7ns", 1us) == 7ns);
  CHECK(parse_duration("0", 1us) == Duration(0));
  for (const char* bad :
       {"", "s", "-1", "-0s", "nan", "inf", "infs", "1 s", "1sec", "1S", "1e30", "40000000h"}) {
    INFO(bad);
    CHECK_FALSE(parse_duration(bad, std::chrono::seconds(1)));
  }
}

TEST_CASE("counts consist of digits only, numbers are finite") {
  CHECK(parse_count("18446744073709551615") == UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", "1.0", " 1", "1 ", "0x1", "18446744073709551616"})
    CHECK_FALSE(parse_count(bad));
  CHECK(parse_number("-2.5") == -2.5);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "2x"})
    CHECK_FALSE(parse_number(bad));
}

TEST_CASE("a mistyped name is similar to the intended one, and other words to none") {
  const std::string_view verbs[] = {"doctor", "bench", "stats", "exact"};
  CHECK(most_similar("docter", verbs) == "doctor");
  CHECK(most_similar("stat", verbs) == "stats");
  CHECK(most_similar("bnech", verbs) == "bench");
  CHECK(most_similar("launch", verbs).empty());
  CHECK(most_similar("", verbs).empty());
  CHECK(most_similar(std::string(1000, 'a'), verbs).empty());
}
