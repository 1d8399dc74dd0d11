// Parts of `dlcp order` that communicate and measure: messages between leader and agents, and the
// rate of a load.
#include "catch.h"
#include "cli/order/agent/agent_words.h"
#include "cli/order/agent/load_meter.h"

using namespace dlcp;
using namespace dlcp::cli;

TEST_CASE("messages between leader and agents survive encoding and decoding") {
  const auto hello = decode_hello(
      encode(AgentHello{"a \"b\"", "boot 7", {"10.0.0.1", "fd00::1"}, {50000, 50001}, 25000}));
  REQUIRE(hello.has_value());
  CHECK(hello->name == "a \"b\"");
  CHECK(hello->addresses == std::vector<std::string>{"10.0.0.1", "fd00::1"});
  CHECK(hello->ports == std::vector<std::uint16_t>{50000, 50001});
  const auto peers =
      decode_peers(encode(PeerList{~std::uint64_t{0}, 1, {"10.0.0.1", "::1"}, {{1}, {2, 3}}}));
  REQUIRE(peers.has_value());
  CHECK(peers->session == ~std::uint64_t{0});
  CHECK(peers->ports[1].size() == 2);
  const auto job = decode_job(encode(AgentJob{{4, 2}, true, 3, 20, 12.5}));
  REQUIRE(job.has_value());
  CHECK(job->probe == std::vector<int>{4, 2});
  CHECK((job->load && job->to == 3 && job->ms == 20 && job->gb_per_s == 12.5));
  const auto answer = decode_answer(encode(AgentAnswer{{{true, 10.5, 3}, {}}, -1, 5, 7}));
  REQUIRE(answer.has_value());
  REQUIRE(answer->measured.size() == 2);
  CHECK((answer->measured[0].answered && answer->measured[0].hops == 3));
  CHECK_FALSE(answer->measured[1].answered);
}

TEST_CASE("invalid messages are refused") {
  CHECK_FALSE(decode_hello("{}").has_value());
  CHECK_FALSE(decode_hello("nonsense").has_value());
  CHECK_FALSE(decode_peers(encode(PeerList{1, 2, {"::1"}, {{1}}})).has_value());
  CHECK_FALSE(decode_job(R"({"probe":[-1],"load":false,"to":-1,"ms":0,"gb_per_s":0})").has_value());
  CHECK_FALSE(decode_job(R"({"probe":[],"load":true,"to":0,"ms":1e9,"gb_per_s":0})").has_value());
}

TEST_CASE("a load's rate is that of its later part, because token buckets speed up the beginning") {
  LoadMeter meter;
  CHECK_FALSE(meter.gb_per_s().has_value());
  for (int i = 0; i < 20; ++i)
    meter.add(i * 1000, 1250);  // 10 Gb/s for 20 us
  for (int i = 0; i <= 100; ++i)
    meter.add(20'000 + i * 10'000, 1250);  // then 1 Gb/s for 1 ms
  REQUIRE(meter.gb_per_s().has_value());
  CHECK(*meter.gb_per_s() == Approx(1).epsilon(0.001));
  CHECK(meter.bytes() == 121 * 1250);
  meter.clear();
  CHECK_FALSE(meter.gb_per_s().has_value());
}
