#include "cli/bench/report.h"

#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/bench/rank/turns.h"

using namespace dlcp::cli;

namespace {

RankResult rank_result(int rank, double seconds, std::uint64_t bytes) {
  RankResult r;
  r.rank = rank;
  r.seconds = seconds;
  r.bytes = bytes;
  r.cpu.user = 0.5;
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

TEST_CASE("the error that is nearest to the cause is reported, whatever rank has it") {
  auto stopped = rank_result(0, 1, 1);
  stopped.error = "another rank has failed";
  stopped.stopped = true;
  auto echo = rank_result(1, 1, 1);
  echo.error = "no answer";
  echo.result = dlcp::nccl::ResultCode::kRemoteError;
  auto own = rank_result(2, 1, 1);
  own.error = "the device of the peer's packets has failed";
  auto setting = rank_result(3, 1, 1);
  setting.error = "raise DLCP_COLLNET_MEMORY";
  setting.result = dlcp::nccl::ResultCode::kInvalidUsage;
  for (auto* each : {&stopped, &echo, &own, &setting})
    each->exit_code = ExitCode::kTransport;
  const auto c = of(Mode::kAllReduce, 4);
  CHECK(make_report(c, {stopped, echo}, 0).error == "rank 1: " + echo.error);
  CHECK(make_report(c, {stopped, echo, own}, 0).error == "rank 2: " + own.error);
  CHECK(make_report(c, {stopped, echo, own, setting}, 0).error == "rank 3: " + setting.error);
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

namespace {

// Two ranks of which the second receives; each turn takes one second.
std::vector<RankResult> in_turns(const std::vector<std::pair<int, std::uint64_t>>& turns) {
  std::vector<RankResult> ranks = {rank_result(0, 0, 0), rank_result(1, 0, 0)};
  for (const auto& [plugin, bytes] : turns)
    for (int rank = 0; rank < 2; rank++) {
      RankResult turn = rank_result(rank, rank, rank * bytes);
      turn.plugin = plugin;
      turn.plugin_name = plugin == 0 ? "A" : "B";
      turn.abi = 11;
      turn.cpu = {0.1, 0.3};
      turn.turn_seconds = 1;
      turn.others_cpu_seconds = plugin == 0 ? 0.02 : 0;
      if (rank == 1) turn.times.add(1000 * (plugin + 1));
      ranks[static_cast<std::size_t>(rank)].turns.push_back(turn);
    }
  return ranks;
}

BenchCase two_plugins(int turns) {
  BenchCase c = of(Mode::kBandwidth, 2);
  c.plugins = {parse_plugin_choice("a"), parse_plugin_choice("b,X=1")};
  c.turns = turns;
  return c;
}

}  // namespace

TEST_CASE("plugins in turn have a report each, and the ratios of their rounds") {
  constexpr std::uint64_t kGb = 125'000'000;  // bytes
  // The machine is half as fast in the second round, whose order is the opposite.
  const auto reports = make_turn_reports(
      two_plugins(3),
      in_turns({{0, 4 * kGb}, {1, 2 * kGb}, {1, kGb}, {0, 2 * kGb}, {0, 4 * kGb}, {1, 3 * kGb}}));
  REQUIRE(reports.size() == 2);
  const auto a = reports[0].to_json();
  const auto b = reports[1].to_json();
  CHECK(a["plugin"] == "A");
  CHECK(b["plugin"] == "B");
  CHECK(b["settings"] == "X=1");
  CHECK(b["bytes"] == 6 * kGb);
  CHECK(b["bus_gbps"] == Approx(2));
  CHECK(b["turns"]["bus_gbps"] == nlohmann::json({2.0, 1.0, 3.0}));
  CHECK(b["ratios"]["bus_gbps"]["low"] == Approx(0.5));
  CHECK(b["ratios"]["bus_gbps"]["median"] == Approx(0.5));
  CHECK(b["ratios"]["bus_gbps"]["high"] == Approx(0.625));
  CHECK(b["ratios"]["p50_us"]["median"] == Approx(2));
  CHECK(a["ratios"]["bus_gbps"]["median"] == Approx(1));
  CHECK(a["others_cpu_share"] == Approx(0.04));
  CHECK(b["others_cpu_share"] == Approx(0));
  const double gib = 6.0 * kGb / 1073741824.0;
  CHECK(b["kernel_s_per_gib"] == Approx(3 * 2 * 0.3 / gib));
  CHECK(b["user_s_per_gib"] == Approx(3 * 2 * 0.1 / gib));
  const std::string table = turn_table(reports);
  CHECK_THAT(table, Contains("B X=1") && Contains("0.500-0.625"));
  CHECK_THAT(table, Contains("4.0% of a core"));
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
    CHECK(std::min(table.find('\n', at), table.size()) - at <= 80);
    if (table.find('\n', at) == std::string::npos) break;
  }
}

TEST_CASE("if a rank fails during the turns, the one report has its error") {
  auto ranks = in_turns({{0, 1}, {1, 1}});
  ranks[1].turns.pop_back();
  ranks[1].error = "test returned ncclRemoteError";
  ranks[1].exit_code = ExitCode::kTransport;
  const auto reports = make_turn_reports(two_plugins(1), ranks);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].exit_code == ExitCode::kTransport);
  CHECK_FALSE(reports[0].turns);
}

TEST_CASE("without a turn in which both plugins have a rate there is no ratio") {
  const auto reports =
      make_turn_reports(two_plugins(2), in_turns({{0, 1}, {1, 0}, {1, 1}, {0, 0}}));
  REQUIRE(reports.size() == 2);
  CHECK_FALSE(reports[1].to_json()["ratios"].contains("bus_gbps"));
  CHECK_THAT(turn_table(reports), !Contains("0.000-0.000"));
}

TEST_CASE("wrong data in one plugin's turn is that plugin's") {
  auto ranks = in_turns({{0, 1}, {1, 1}});
  ranks[1].turns[1].wrong = {4, 1};
  const auto reports = make_turn_reports(two_plugins(1), ranks);
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].exit_code == ExitCode::kOk);
  CHECK(reports[1].exit_code == ExitCode::kWrongData);
  CHECK_THAT(turn_table(reports), Contains("wrong bytes: 4"));
}
