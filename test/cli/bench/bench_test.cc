// dlcp bench with the reference TCP plugin: every mode, with small sizes.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "bench_run.h"
#include "catch.h"

namespace {

void check_clean(const BenchRun& run) {
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  const auto json = run.json();
  CHECK(json["bytes_wrong"] == 0);
  CHECK(json["elements_wrong"] == 0);
  CHECK(json["error"].is_null());
  CHECK(json["plugin"] == "REFTCP");
  CHECK(json["abi"] == 11);
}

}  // namespace

TEST_CASE("bw carries every requested message and prints all promised numbers") {
  const auto run = run_bench(REFERENCE_TCP, {"--iterations", "50", "--size", "100003"});
  check_clean(run);
  const auto json = run.json();
  CHECK(json["messages"] == 50);
  CHECK(json["samples"] == 50);
  CHECK(json["bytes"] == 50 * 100003);
  for (const char* key : {"mode", "ranks", "size", "inflight", "channels", "loss", "seconds",
                          "mean_burst", "plugin_path"})
    CHECK(json.contains(key));
  for (const char* key : {"bus_gbps", "p50_us", "p99_us", "p999_us", "max_us", "cpu_s_per_gib"})
    CHECK(json[key].get<double>() > 0);
  CHECK(json["p50_us"].get<double>() <= json["p99_us"].get<double>());
  CHECK(json["p99_us"].get<double>() <= json["max_us"].get<double>());
}

TEST_CASE("an older version of the interface is used if requested") {
  const auto run = run_bench(REFERENCE_TCP, {"--abi", "8", "--iterations", "50", "--size", "64K"});
  CHECK(run.exit_code == 0);
  CHECK(run.json()["abi"] == 8);
  CHECK(run.json()["bytes_wrong"] == 0);
}

TEST_CASE("a stream limited by time ends by itself and loses nothing") {
  const auto run =
      run_bench(REFERENCE_TCP, {"--seconds", "0.2", "--size", "64K", "--channels", "2"});
  check_clean(run);
  CHECK(run.json()["messages"].get<int>() > 0);
}

TEST_CASE("payloads of every kind are compared, and the report names the kind") {
  for (const char* data : {"random", "bf16", "f32", "amp"}) {
    const auto run =
        run_bench(REFERENCE_TCP, {"--data", data, "--size", "100003", "--iterations", "20"});
    check_clean(run);
    CHECK(run.json()["data"] == data);
  }
}

TEST_CASE("empty messages are transferred too") {
  check_clean(run_bench(REFERENCE_TCP, {"--iterations", "100", "--size", "0"}));
}

TEST_CASE("several sizes give an array in the given order") {
  const auto run =
      run_bench(REFERENCE_TCP, {"--mode", "lat", "--size", "64,4K", "--iterations", "50"});
  REQUIRE(run.exit_code == 0);
  REQUIRE(run.json().size() == 2);
  CHECK(run.json()[1]["size"] == 4096);
  CHECK(run.json()[0]["samples"] == 50);
}

TEST_CASE("a ring of any number of ranks sums exactly") {
  for (const char* ranks : {"2", "3", "5"})
    check_clean(run_bench(REFERENCE_TCP, {"--mode", "ring", "--ranks", ranks, "--size", "1000004",
                                          "--iterations", "3"}));
}

TEST_CASE("a ring longer than its slices sums exactly on two channels") {
  check_clean(run_bench(REFERENCE_TCP, {"--mode", "ring", "--ranks", "2", "--size", "12M",
                                        "--channels", "2", "--iterations", "2"}));
}

TEST_CASE("incast and alltoall carry every message") {
  auto run = run_bench(REFERENCE_TCP, {"--mode", "incast", "--ranks", "3", "--iterations", "20"});
  check_clean(run);
  CHECK(run.json()["messages"] == 40);
  run = run_bench(REFERENCE_TCP,
                  {"--mode", "alltoall", "--ranks", "3", "--iterations", "20", "--size", "64K"});
  check_clean(run);
  CHECK(run.json()["messages"] == 120);
}

TEST_CASE("flagged lines are read while they arrive, and are correct") {
  check_clean(run_bench(REFERENCE_TCP, {"--flags", "ll", "--size", "16K", "--iterations", "60"}));
}

// The kernel's copy guarantees no order within a line of 128 bytes, so wrong bytes are possible
// here.
TEST_CASE("all lines of 128 bytes are read") {
  const auto run =
      run_bench(REFERENCE_TCP, {"--flags", "ll128", "--size", "16K", "--iterations", "60"});
  INFO(run.out << run.err);
  CHECK((run.exit_code == 0 || run.exit_code == 1));
  CHECK(run.json()["error"].is_null());
  CHECK(run.json()["messages"] == 60);
}

TEST_CASE("a killed bench leaves no files behind") {
  std::string folder = (std::filesystem::temp_directory_path() / "bench-killed-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string command = "TMPDIR=" + folder + " timeout -s KILL 1 " + DLCP_BINARY +
                              " bench --plugin " + REFERENCE_TCP + " --seconds 60";
  CHECK(std::system(command.c_str()) != 0);
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST_CASE("an abort with operations in flight ends cleanly") {
  check_clean(run_bench(REFERENCE_TCP, {"--mode", "abort"}));
}

TEST_CASE("one process per rank, started separately, meet and give one report") {
  const std::string port = std::to_string(20000 + getpid() % 20000);  // unlikely to be in use
  const std::vector<std::string> common = {"--iterations",      "20",      "--rendezvous",
                                           "127.0.0.1:" + port, "--world", "2"};
  auto with_rank = [&](const char* rank) {
    auto arguments = common;
    arguments.insert(arguments.end(), {"--rank", rank});
    return run_bench(REFERENCE_TCP, arguments, {"NCCL_SOCKET_IFNAME=lo"});
  };
  BenchRun second;
  std::thread other([&] { second = with_rank("1"); });
  const BenchRun first = with_rank("0");
  other.join();
  check_clean(first);
  CHECK(first.json()["time_of"] == "isend to sent");
  INFO(second.err);
  CHECK(second.exit_code == 0);
  CHECK(second.out.empty());
}
