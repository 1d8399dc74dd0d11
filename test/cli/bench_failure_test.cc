// The messages of dlcp bench about plugins that misbehave, ranks that die, and invalid command
// lines.
#include "bench_run.h"
#include "catch.h"

namespace {

BenchRun misbehave(const std::string& how, std::vector<std::string> arguments) {
  return run_bench(MISBEHAVING_PLUGIN, std::move(arguments), {"MISBEHAVE=" + how});
}

}  // namespace

TEST_CASE("the wrapper without a fault changes nothing") {
  CHECK(misbehave("", {"--iterations", "40"}).exit_code == 0);
}

TEST_CASE("one flipped bit is one wrong byte and exit code 1") {
  const auto run = misbehave("flip", {"--iterations", "20"});
  CHECK(run.exit_code == 1);
  CHECK(run.json()["bytes_wrong"] == 1);
  CHECK(run.json()["elements_wrong"] == 1);
}

TEST_CASE("swapped blocks are wrong data in a stream and in a ring") {
  auto run = misbehave("swap", {"--iterations", "30"});
  CHECK(run.exit_code == 1);
  CHECK(run.json()["bytes_wrong"].get<int>() > 1900);
  run = misbehave("swap", {"--mode", "ring", "--ranks", "2", "--size", "8M", "--iterations", "3"});
  CHECK(run.exit_code == 1);
  CHECK(run.json()["elements_wrong"].get<int>() > 100);
}

TEST_CASE("a wrong byte in flagged lines is detected by the readers") {
  const auto run = misbehave("flip", {"--flags", "ll", "--size", "16K", "--iterations", "60"});
  CHECK(run.exit_code == 1);
  CHECK(run.json()["bytes_wrong"] == 1);
}

TEST_CASE("bytes written behind the receive buffer are wrong data") {
  CHECK(misbehave("overrun", {"--iterations", "10"}).exit_code == 1);
}

TEST_CASE("a plugin that stops completing requests is ended after --timeout") {
  const auto run = misbehave("hang", {"--seconds", "60", "--timeout", "1"});
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("no progress for 1 s"));
  CHECK(run.seconds < 15);
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

TEST_CASE("a file that is not a plugin is refused with exit code 2") {
  auto run = run_bench("/nonexistent.so", {});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("cannot load the plugin"));
  run = run_bench("libm.so.6", {});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(),
             Contains("exports no ncclNetPlugin_v6 to _v12"));
  run = run_bench(REFERENCE_TCP, {"--abi", "9"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("exports no ncclNetPlugin_v9"));
}

TEST_CASE("faults inside the plugin are available for DLCP's plugin only") {
  const auto run = run_bench(REFERENCE_TCP, {"--loss", "1%"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("scripts/netns"));
}

TEST_CASE("a missing namespace is named") {
  const auto run = run_bench(REFERENCE_TCP, {"--netns", "no_such_"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("no_such_0"));
}

TEST_CASE("a bad option is one line on stderr and exit code 2") {
  const auto run = run_bench(REFERENCE_TCP, {"--ranks", "3"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("--ranks 3: mode bw works in pairs"));
}
