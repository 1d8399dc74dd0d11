// Fault specifications as text.
#include "catch.h"
#include "datapath/faulty/fault_spec.h"

namespace dlcp::datapath::test {

TEST_CASE("a specification is read key by key") {
  const auto parsed = parse_fault_spec(
      "drop=0.01,dup=0.001,reorder=0.02,corrupt=0.0001,delay_us=100,blackhole=3+5,seed=7,burst=4,"
      "jitter_us=9,reorder_packets=3");
  REQUIRE(parsed);
  const FaultSpec& spec = parsed.value();
  CHECK(spec.drop == 0.01);
  CHECK(spec.duplicate == 0.001);
  CHECK(spec.reorder == 0.02);
  CHECK(spec.corrupt == 0.0001);
  CHECK(spec.delay == 100us);
  CHECK(spec.jitter == 9us);
  CHECK(spec.blackholes == std::vector<wire::PathIndex>{3, 5});
  CHECK(spec.seed == 7);
  CHECK(spec.burst == 4);
  CHECK(spec.reorder_packets == 3);
  CHECK_FALSE(spec.is_nothing());
  CHECK(parse_fault_spec("").value().is_nothing());
  CHECK(parse_fault_spec("blackhole=12.5%").value().blackhole_percent == 12.5);
}

TEST_CASE("the text of a specification parses to the same specification") {
  for (const char* text :
       {"", "drop=0.01", "drop=0.013,burst=8,dup=0.07,reorder=1,reorder_packets=2,corrupt=1e-05",
        "delay_us=100,jitter_us=50,blackhole=0+255,seed=18446744073709551615", "blackhole=7.1%"}) {
    INFO(text);
    const auto spec = parse_fault_spec(text);
    REQUIRE(spec);
    CHECK(to_string(spec.value()) == text);
    CHECK(parse_fault_spec(to_string(spec.value())).value() == spec.value());
  }
}

TEST_CASE("a bad specification is refused with key, value and range") {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"drop=1.5", "fault drop=1.5 is out of range; drop takes a share from 0 to 1"},
      {"drop=-0.1", "fault drop=-0.1 is out of range; drop takes a share from 0 to 1"},
      {"drop=nan", "fault drop=nan is out of range; drop takes a share from 0 to 1"},
      {"dup=", "fault dup= is out of range; dup takes a share from 0 to 1"},
      {"reorder=0.1x", "fault reorder=0.1x is out of range; reorder takes a share from 0 to 1"},
      {"burst=0", "fault burst=0 is out of range; burst takes packets from 1 to 10000"},
      {"delay_us=-5",
       "fault delay_us=-5 is out of range; delay_us takes whole microseconds from 0 to 10000000"},
      {"blackhole=3+256",
       "fault blackhole=3+256 is out of range; blackhole takes paths from 0 to 255 (3+5) or a "
       "share "
       "of them (25%)"},
      {"blackhole=101%",
       "fault blackhole=101% is out of range; blackhole takes paths from 0 to 255 (3+5) or a share "
       "of them (25%)"},
      {"drop=0.1,drop=0.2", "fault \"drop\" is given twice"},
      {"drop",
       "fault \"drop\" has no value; write key=value, separated by commas: drop=0.01,seed=7"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto parsed = parse_fault_spec(c.text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::kInvalidUsage);
    CHECK(parsed.error().message() == c.message);
  }
  CHECK_THAT(parse_fault_spec("lose=0.1").error().message(),
             Contains("no fault \"lose\"") && Contains("drop, burst, dup"));
}

}  // namespace dlcp::datapath::test
