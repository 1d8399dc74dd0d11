// Parts of dlcp-hub: its tenants, the parsing of a connection's bytes, and its jobs.
#include <cstdlib>

#include "catch.h"
#include "cli/hub/admission/caller.h"
#include "cli/hub/admission/log_limit.h"
#include "cli/hub/jobs/job.h"

using namespace dlcp;
using namespace dlcp::cli;
using engine::HubFrame;

namespace {

constexpr engine::HubChallenge kChallenge{1, 2};

engine::HubJoin join() {
  engine::HubJoin made;
  made.us.ranks = 2;
  made.us.hubs = 1;
  made.us.granule = 1408;
  made.us.block_bytes_max = 42 * made.us.granule;
  return made;
}

std::string why(std::string_view text) {
  const auto read = parse_tenants(text, "FILE");
  return read.ok() ? "" : read.error().what;
}

}  // namespace

TEST_CASE("tenants have names, tokens and limits") {
  const auto read = parse_tenants(
      "# ours\n"
      "team-a 00000000000000010000000000000002 memory=4G gbit=2.5 jobs=3\n\n"
      "00000000000000010000000000000003 # alone\n",
      "FILE");
  REQUIRE(read.ok());
  const Tenants& tenants = read.value();
  REQUIRE(tenants.size() == 2);
  CHECK(tenants[0]->name == "team-a");
  CHECK(tenants[0]->token == wire::Key{1, 2});
  CHECK(tenants[0]->memory_max == std::uint64_t{4} << 30);
  CHECK(tenants[0]->rate.has_credit(Time{1s}));  // 5 ms of 2.5 Gbit/s
  tenants[0]->rate.spend(31'250'000);
  CHECK_FALSE(tenants[0]->rate.has_credit(Time{1s + 94ms}));
  CHECK(tenants[0]->rate.has_credit(Time{1s + 96ms}));
  CHECK(tenants[0]->jobs_max == 3);
  CHECK(tenants[1]->name == "default");
  CHECK(tenants[1]->jobs_max > 1000);
}

TEST_CASE("a wrong token file is refused with the line, and no token is printed") {
  CHECK(why("a 12") ==
        "FILE:1: the token has 2 characters, but it must have 32 hexadecimal digits that are not "
        "all 0");
  CHECK(why("00000000000000010000000000000002 memory=1G") ==
        "FILE:1: 'memory=1G' is in the place of the token; limits need a name");
  const std::string good = "a 00000000000000010000000000000002";
  CHECK(why(good + " rate=1") == "FILE:1: 'rate=1' is not a valid limit");
  CHECK(why(good + " memory=0") == "FILE:1: 'memory=0' is not a valid limit");
  CHECK(why(good + " gbit=-1") == "FILE:1: 'gbit=-1' is not a valid limit");
  CHECK(why(good + "\nb 00000000000000010000000000000002") ==
        "FILE:2: the name or the token is already used in another line");
  CHECK(why("# nobody") == "FILE:1: the file contains no token");
}

TEST_CASE("a rate is kept on average, and large pieces are charged afterwards") {
  RateShare rate;
  Time now{1s};
  rate.spend(1 << 30);
  CHECK(rate.has_credit(now));  // no limit
  rate.set(1e6);
  std::uint64_t given = 0;
  for (int ms = 0; ms < 1000; ++ms, now += 1ms) {
    for (int i = 0; i < 100; ++i)
      (void)rate.has_credit(now);  // asking costs nothing
    if (!rate.has_credit(now)) continue;
    rate.spend(10'000);
    given += 10'000;
  }
  CHECK(given >= 990'000);
  CHECK(given <= 1'020'000);
  now += 100ms;
  CHECK(rate.has_credit(now));
  rate.spend(500'000);
  CHECK_FALSE(rate.has_credit(now + 400ms));
  CHECK(rate.has_credit(now + 600ms));
}

TEST_CASE("callers that are refused all the time fill the log with 20 lines a minute only") {
  std::vector<std::string> lines;
  LogLimit limit([&](const std::string& line) { lines.push_back(line); }, 20);
  for (int i = 0; i < 1000; ++i)
    limit.say(Time{1h} + i * 1ms, "refused");
  CHECK(lines.size() == 20);
  limit.tick(Time{1h} + 60s - 1ms);
  CHECK(lines.size() == 20);
  limit.tick(Time{1h} + 60s);
  REQUIRE(lines.size() == 21);
  CHECK(lines.back() == "980 more lines like the last ones within a minute were not printed");
  limit.say(Time{1h} + 61s, "refused");
  CHECK(lines.back() == "refused");
  limit.tick(Time{2h});
  CHECK(lines.size() == 22);
}

TEST_CASE("a rank with a token is admitted, whatever pieces its message arrives in") {
  Tenants tenants = std::move(parse_tenants("a 00000000000000010000000000000002\n"
                                            "b 00000000000000030000000000000004",
                                            "FILE"))
                        .value();
  const HubFrame frame = encode(join(), kChallenge, {3, 4});
  Caller caller(kChallenge);
  for (std::size_t i = 0; i + 1 < frame.size(); ++i)
    REQUIRE(caller.on_bytes(std::span(frame).subspan(i, 1), tenants) == Caller::State::kStranger);
  REQUIRE(caller.on_bytes(std::span(frame).last(1), tenants) == Caller::State::kAsks);
  CHECK(caller.tenant() == tenants[1].get());
  const auto answer = engine::decode_hub_answer(caller.answer({}), kChallenge, {3, 4});
  CHECK(answer.ok());
  CHECK(caller.state() == Caller::State::kSeated);
  const std::byte leave = engine::kHubLeave;
  CHECK(caller.on_bytes({&leave, 1}, tenants) == Caller::State::kLeft);
}

TEST_CASE("a client without a token is told so, and so is one that sends anything else") {
  Tenants tenants = std::move(parse_tenants("00000000000000010000000000000002", "FILE")).value();
  Caller other(kChallenge);
  CHECK(other.on_bytes(encode(join(), kChallenge, {7, 8}), tenants) == Caller::State::kRefused);
  CHECK(other.tenant() == nullptr);
  CHECK_THAT(engine::decode_hub_answer(other.refusal(), kChallenge, {7, 8})->refusal,
             Contains("wrong token"));
  Caller replayed(kChallenge);
  CHECK(replayed.on_bytes(encode(join(), {9, 9}, {1, 2}), tenants) == Caller::State::kRefused);
  Caller garbled(kChallenge);
  CHECK(garbled.on_bytes(std::vector<std::byte>(600), tenants) == Caller::State::kRefused);
  Caller twice(kChallenge);
  HubFrame frame = encode(join(), kChallenge, {1, 2});
  frame.push_back(std::byte{1});
  CHECK(twice.on_bytes(frame, tenants) == Caller::State::kRefused);
}

TEST_CASE("an exception in a job ends that job with an error, and the hub continues") {
  ::setenv("DLCP_IFNAME", "=lo", 1);
  engine::Registry registry([](const engine::LogLine&) {});
  registry.refresh();
  auto port = registry.port(0);
  REQUIRE(port.ok());
  engine::HubJoin wrong = join();
  wrong.us.rails = 2;  // refused when it is decoded; here it breaks an invariant of the set-up
  wrong.us.staging = 4096;
  wrong.timeout_s = 10;
  Tenant tenant;
  std::string said;
  HubJob job(registry, port.value(), 0, wrong, tenant,
             [&](const std::string& line) { said = line; });
  for (wrong.us.rank = 0; wrong.us.rank < 2; ++wrong.us.rank)
    REQUIRE(job.seat(wrong).empty());
  CHECK(job.step() == HubJob::Step::kOver);
  CHECK(job.failed());
  CHECK_THAT(said, Contains("an internal error of the hub"));
  CHECK_FALSE(job.seat(join()).empty());
}
