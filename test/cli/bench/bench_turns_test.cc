// dlcp bench with several plugins, which run in turn in the same processes.
#include "bench_run.h"
#include "catch.h"

namespace {

// `plugin` after the reference plugin, 3 rounds.
BenchRun run_beside_tcp(const std::string& plugin, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--plugin", plugin, "--turns", "3"});
  return run_bench(REFERENCE_TCP, arguments);
}

void check_reports(const BenchRun& run) {
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  const auto json = run.json();
  REQUIRE(json.size() == 2);
  CHECK(json[0]["plugin"] == "REFTCP");
  CHECK(json[1]["plugin"] == "DLCP");
  for (const auto& report : json) {
    CHECK(report["bytes_wrong"] == 0);
    CHECK(report["error"].is_null());
    CHECK(report["turns"]["bus_gbps"].size() == 3);
    CHECK(report["messages"].get<int>() > 0);
    for (const char* key : {"bus_gbps", "p50_us"}) {
      const auto& ratio = report["ratios"][key];
      CHECK(ratio["low"].get<double>() <= ratio["median"].get<double>());
      CHECK(ratio["median"].get<double>() <= ratio["high"].get<double>());
    }
  }
  CHECK(json[0]["ratios"]["bus_gbps"]["median"] == 1);
  CHECK(json[0]["others_cpu_share"].get<double>() >= 0);
  CHECK(json[1]["counters"]["packets_sent"].get<int>() > 0);
  CHECK(json[0]["counters"].is_null());
}

}  // namespace

TEST_CASE("two plugins transfer in turn, in streams, rings and between all ranks") {
  check_reports(run_beside_tcp(DLCP_PLUGIN, {"--iterations", "20", "--size", "100003"}));
  check_reports(run_beside_tcp(DLCP_PLUGIN, {"--seconds", "0.05", "--channels", "2"}));
  check_reports(run_beside_tcp(DLCP_PLUGIN, {"--mode", "lat", "--seconds", "0.05"}));
  check_reports(
      run_beside_tcp(DLCP_PLUGIN, {"--mode", "ring", "--rounds", "2", "--size", "1000004"}));
  check_reports(run_beside_tcp(
      DLCP_PLUGIN, {"--mode", "alltoall", "--ranks", "3", "--iterations", "20", "--size", "64K"}));
}

TEST_CASE("the threads of an idle plugin need little processor time") {
  const auto run = run_beside_tcp(DLCP_PLUGIN, {"--seconds", "0.3"});
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  // An idle helper thread needs less than 0.1%, but a test's machine may be busy.
  CHECK(run.json()[0]["others_cpu_share"].get<double>() < 0.2);
}

TEST_CASE("the same file with different settings is loaded twice") {
  const auto run = run_bench(std::string(DLCP_PLUGIN) + ",DLCP_CHECKSUM=full",
                             {"--plugin", DLCP_PLUGIN, "--turns", "2", "--iterations", "20"});
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(run.json().size() == 2);
  CHECK(run.json()[0]["settings"] == "DLCP_CHECKSUM=full");
  CHECK(run.json()[1]["settings"] == "");
  const auto full = run.json()[0]["counters"];
  const auto plain = run.json()[1]["counters"];
  CHECK(full["packets_sent"].get<int>() > 0);
  CHECK(plain["packets_sent"].get<int>() > 0);
}

TEST_CASE("if one of several plugins fails, the run fails with one report") {
  const auto run = run_bench(REFERENCE_TCP, {"--plugin", "/no/such/plugin.so"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("/no/such/plugin.so"));
}

TEST_CASE("a wrong setting of one plugin is a usage error") {
  const auto run = run_beside_tcp(std::string(DLCP_PLUGIN) + ",DLCP_PATHS=0", {});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("DLCP_PATHS"));
}
