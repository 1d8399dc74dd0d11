#include "cli/bench/report.h"

#include <nlohmann/json.hpp>

#include "catch.h"

using namespace dlcp::cli;

namespace {

RankResult rank_result(int rank, double seconds, std::uint64_t bytes) {
  RankResult r;
  r.rank = rank;
  r.seconds = seconds;
  r.bytes = bytes;
  r.cpu_seconds = 0.5;
  return r;
}

BenchCase of(Mode mode, int ranks) {
  BenchCase c;
  c.mode = mode;
  c.ranks = ranks;
  return c;
}

}  // namespace

TEST_CASE("bw counts the bytes that the receiver got in its time") {
  const auto r = make_report(of(Mode::kBandwidth, 2),
                             {rank_result(0, 0, 0), rank_result(1, 2, 1'000'000'000)}, 0);
  CHECK(r.bus_gbps == Approx(4.0));
  CHECK(r.cpu_s_per_gib == Approx(1.0 / (1e9 / 1073741824.0)));
}

TEST_CASE("a ring's bus bandwidth is one rank's traffic over its time") {
  std::vector<RankResult> ranks;
  for (int i = 0; i < 4; i++)
    ranks.push_back(rank_result(i, 1, 1'500'000'000));
  const auto r = make_report(of(Mode::kRing, 4), ranks, 0);
  CHECK(r.bus_gbps == Approx(12.0));
  CHECK(r.aggregate_gbps == Approx(48.0));
}

TEST_CASE("wrong data is the worst outcome, then usage, timeout, transport") {
  auto a = rank_result(0, 1, 1);
  auto b = rank_result(1, 1, 1);
  a.exit_code = ExitCode::kTransport;
  a.error = "a";
  b.exit_code = ExitCode::kTimeout;
  b.error = "b";
  CHECK(make_report(of(Mode::kBandwidth, 2), {a, b}, 0).exit_code == ExitCode::kTimeout);
  b.wrong = {1, 1};
  CHECK(make_report(of(Mode::kBandwidth, 2), {a, b}, 0).exit_code == ExitCode::kWrongData);
}

TEST_CASE("survivors of a killed rank report the time until the error, and that is success") {
  BenchCase c = of(Mode::kRing, 3);
  c.kill_rank = 1;
  auto dead = rank_result(1, 0, 0);
  dead.exit_code = ExitCode::kTransport;
  dead.error = "ended without a result: signal 9 (Killed)";
  auto survivor = rank_result(0, 0, 0);
  survivor.exit_code = ExitCode::kTransport;
  survivor.error = "test (receive) returned ncclRemoteError";
  survivor.result = dlcp::nccl::ResultCode::kRemoteError;
  survivor.error_at_ns = 1'030'000'000;
  auto other = survivor;
  other.rank = 2;
  other.error_at_ns = 1'050'000'000;
  const auto report = make_report(c, {survivor, dead, other}, 1'000'000'000);
  CHECK(report.exit_code == ExitCode::kOk);
  const auto json = report.to_json();
  CHECK(json["time_to_error_ms"][0] == Approx(30));
  CHECK(json["time_to_error_ms"][1].is_null());
  CHECK(json["time_to_error_ms"][2] == Approx(50));
  CHECK(json["result_codes"][2] == "ncclRemoteError");
  CHECK(json["error"].is_null());
}

TEST_CASE("a rank's result survives encoding and decoding") {
  RankResult r = rank_result(2, 1.5, 77);
  r.times.add(1000);
  r.counters["packets_sent"] = 8;
  r.counters["bursts_sent"] = 2;
  r.error = "a \"quoted\" error";
  const RankResult copy = RankResult::decode(r.encode());
  CHECK(copy.bytes == 77);
  CHECK(copy.times.max() == 1000);
  CHECK(copy.error == r.error);
  const auto json = make_report(of(Mode::kBandwidth, 2), {copy, copy}, 0).to_json();
  CHECK(json["mean_burst"] == Approx(4.0));
  CHECK(json["counters"]["packets_sent"] == 16);
}
