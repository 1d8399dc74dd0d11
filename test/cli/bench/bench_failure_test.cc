// The messages of dlcp bench about plugins that misbehave, ranks that die, and invalid command
// lines.
#include <climits>

#include "bench_run.h"
#include "catch.h"
#include "cli/launch/clock.h"

namespace {

BenchRun misbehave(const std::string& how, std::vector<std::string> arguments) {
  return run_bench(MISBEHAVING_PLUGIN, std::move(arguments), {"MISBEHAVE=" + how});
}

}  // namespace

TEST_CASE("faults of a plugin are wrong data and exit code 1, and without a fault there are none") {
  struct Range {
    int least = 0, most = INT_MAX;
  };
  struct Row {
    const char* fault;
    std::vector<std::string> arguments;
    int exit_code;
    Range bytes, elements = {};  // the report's bytes_wrong and elements_wrong
  };
  const Row table[] = {
      {"", {"--iterations", "40"}, 0, {0, 0}, {0, 0}},
      {"flip", {"--iterations", "20"}, 1, {1, 1}, {1, 1}},
      {"swap", {"--iterations", "30"}, 1, {1901}},
      {"swap",
       {"--mode", "ring", "--ranks", "2", "--size", "8M", "--iterations", "3"},
       1,
       {},
       {101}},
      // The readers of flagged lines detect it.
      {"flip", {"--flags", "ll", "--size", "16K", "--iterations", "60"}, 1, {1, 1}},
      // The canary in a receive buffer detects it, on each rank.
      {"late",
       {"--mode", "ring", "--ranks", "2", "--size", "8M", "--iterations", "3", "--canary"},
       1,
       {2, 2},
       {2, 2}},
      {"",
       {"--mode", "ring", "--ranks", "2", "--size", "8M", "--iterations", "3", "--canary"},
       0,
       {0, 0},
       {0, 0}},
      // Bytes behind the receive buffer.
      {"overrun", {"--iterations", "10"}, 1, {}},
  };
  for (const Row& row : table) {
    const auto run = misbehave(row.fault, row.arguments);
    INFO(row.fault << run.out << run.err);
    CHECK(run.exit_code == row.exit_code);
    const auto json = run.json();
    for (const auto& [count, range] :
         {std::pair(json["bytes_wrong"].get<int>(), row.bytes),
          std::pair(json["elements_wrong"].get<int>(), row.elements)}) {
      CHECK(count >= range.least);
      CHECK(count <= range.most);
    }
  }
}

TEST_CASE("a plugin that stops completing requests is ended after --timeout") {
  const auto run = misbehave("hang", {"--seconds", "60", "--timeout", "1"});
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("no progress for 1 s"));
  CHECK(run.seconds < 15);
}

TEST_CASE("ranks that wait for a connection leave the processors to others") {
  const double before = dlcp::cli::cpu_time(RUSAGE_CHILDREN).total();
  const auto run = misbehave("unanswered", {"--timeout", "3"});
  CHECK(run.exit_code == 4);
  CHECK(dlcp::cli::cpu_time(RUSAGE_CHILDREN).total() - before < 1.5);
}

TEST_CASE("a rank that dies ends the run with its signal's name") {
  const auto run = misbehave("crash", {"--seconds", "60"});
  CHECK(run.exit_code == 3);
  CHECK(run.json()["error"].is_string());
  CHECK(run.seconds < 20);
}

TEST_CASE("an error of the plugin is reported with the call and NCCL's name of the error") {
  const auto run = misbehave("refuse", {"--iterations", "40"});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("isend returned ncclSystemError"));
}

TEST_CASE("all survivors of a killed rank report an error, neighbours or not") {
  const auto run =
      run_bench(REFERENCE_TCP, {"--mode", "ring", "--ranks", "5", "--size", "256K", "--seconds",
                                "30", "--kill-rank", "2", "--kill-after-ms", "200"});
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  const auto times = run.json()["time_to_error_ms"];
  REQUIRE(times.size() == 5);
  for (std::size_t rank = 0; rank < 5; rank++)
    CHECK(times[rank].is_null() == (rank == 2));
}

TEST_CASE("a bench that cannot run ends with exit code 2 and the reason") {
  struct Row {
    const char* plugin;
    std::vector<std::string> arguments;
    const char* error;
  };
  const Row table[] = {
      {"/nonexistent.so", {}, "cannot load the plugin"},
      {"libm.so.6", {}, "exports no ncclNetPlugin_v6 to _v12"},
      {REFERENCE_TCP, {"--abi", "9"}, "exports no ncclNetPlugin_v9"},
      {REFERENCE_TCP, {"--loss", "1%"}, "scripts/netns"},  // faults inside DLCP's plugin only
      {REFERENCE_TCP, {"--netns", "no_such_"}, "no_such_0"},
  };
  for (const Row& row : table) {
    INFO(row.error);
    const auto run = run_bench(row.plugin, row.arguments);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.json()["error"].get<std::string>(), Contains(row.error));
  }
  const auto run = run_bench(REFERENCE_TCP, {"--ranks", "3"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("--ranks 3: mode bw works in pairs"));
}
