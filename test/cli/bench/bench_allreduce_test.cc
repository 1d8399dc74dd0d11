// dlcp bench --mode allreduce, run as by a user.
#include "bench_run.h"
#include "catch.h"

namespace {

const std::vector<std::string> kLoopback = {"NCCL_SOCKET_IFNAME=lo"};

BenchRun all_reduce(std::vector<std::string> arguments,
                    const std::vector<std::string>& environment = kLoopback) {
  arguments.insert(arguments.begin(), {"--mode", "allreduce"});
  return run_bench(DLCP_PLUGIN, std::move(arguments), environment);
}

nlohmann::json check_exact(const BenchRun& run) {
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  const auto json = run.json();
  CHECK(json["error"].is_null());
  CHECK(json["elements_wrong"] == 0);
  CHECK(json["ranks_identical"] == true);
  CHECK(json["relative_mse"] == 0);
  CHECK(json["delivered_share_min"] == 1);
  for (const char* key : {"p50_us", "p99_us", "reduce_gb_per_s", "bus_gbps"})
    CHECK(json[key].get<double>() > 0);
  return json;
}

}  // namespace

TEST_CASE("direct and ring reduce the same sizes exactly, with 2, 3 and 8 ranks") {
  for (const char* algorithm : {"direct", "ring"}) {
    for (const char* ranks : {"2", "3", "8"}) {
      const auto json = check_exact(
          all_reduce({"--algo", algorithm, "--ranks", ranks, "--size", "300004", "--rounds", "3"}));
      CHECK(json["algo"] == algorithm);
      CHECK(json["samples"] == 3 * std::stoi(ranks));
      CHECK(json["connect_ms"].is_number() == (std::string(algorithm) == "direct"));
    }
  }
}

TEST_CASE("direct runs through every version of the CollNet interface") {
  for (const char* abi : {"8", "9", "10", "11", "12"}) {
    const auto json = check_exact(all_reduce(
        {"--algo", "direct", "--abi", abi, "--ranks", "2", "--size", "64K", "--rounds", "3"}));
    CHECK(json["abi"] == std::stoi(abi));
  }
}

TEST_CASE("direct reduces any type with any operation, in several groups of channels") {
  check_exact(all_reduce(
      {"--algo", "direct", "--type", "bf16", "--ranks", "3", "--size", "70002", "--rounds", "2"}));
  check_exact(all_reduce(
      {"--algo", "ring", "--type", "f16", "--ranks", "3", "--size", "70002", "--rounds", "2"}));
  check_exact(all_reduce({"--algo", "direct", "--type", "i8", "--op", "max", "--ranks", "3",
                          "--size", "12345", "--rounds", "2"}));
  check_exact(all_reduce(
      {"--algo", "direct", "--channels", "12", "--ranks", "2", "--size", "3M", "--rounds", "2"}));
}

TEST_CASE("direct is exact over a bad network") {
  const auto json = check_exact(
      all_reduce({"--algo", "direct", "--ranks", "4", "--size", "512K", "--rounds", "5"},
                 {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500",
                  "DLCP_FAULT=drop=0.02,dup=0.01,reorder=0.02,seed=5"}));
  CHECK(json["counters"]["packets_retransmitted"].get<int>() > 0);
}

TEST_CASE("compressed contributions and sums give the same bits, by every algorithm") {
  const std::vector<std::string> compressed = {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500",
                                               "DLCP_COMPRESS=on"};
  for (const char* algorithm : {"ring", "direct", "hub"}) {
    const auto json = check_exact(all_reduce(
        {"--algo", algorithm, "--ranks", "4", "--size", "2M", "--rounds", "5", "--data", "amp"},
        compressed));
    const auto& counters = json["counters"];
    INFO(algorithm << ": " << counters.dump());
    CHECK(counters["bytes_compressed"].get<double>() >
          1.2 * counters["bytes_compressed_wire"].get<double>());
  }
  // Numbers whose sum depends on the order of addition.
  const auto json = check_exact(all_reduce(
      {"--algo", "direct", "--type", "bf16", "--ranks", "4", "--size", "2M", "--rounds", "5"},
      compressed));
  CHECK(json["counters"]["bytes_compressed"] > 0);
}

TEST_CASE("sums by a switch are correct except for its rounding, with and without loss") {
  for (const char* loss : {"0", "1%"}) {
    const auto run = all_reduce(
        {"--algo", "switch", "--ranks", "4", "--size", "200004", "--rounds", "5", "--loss", loss});
    INFO(run.out << run.err);
    REQUIRE(run.exit_code == 0);
    const auto json = run.json();
    CHECK(json["algo"] == "switch");
    CHECK(json["elements_wrong"] == 0);
    CHECK(json["ranks_identical"] == true);
    CHECK(json["delivered_share_min"] == 1);
    CHECK(json["relative_mse"] > 0);
    CHECK(json["relative_mse"] < 1e-12);
    CHECK(json["switch_sums"] > 5 * 196);
    for (const char* key : {"p50_us", "p99_us", "reduce_gb_per_s", "connect_ms"})
      CHECK(json[key].get<double>() > 0);
  }
  const auto whole = check_exact(all_reduce(
      {"--algo", "switch", "--type", "i32", "--ranks", "3", "--size", "70000", "--rounds", "2"}));
  CHECK(whole["switch_sums"] == 1);
}

TEST_CASE("a rank that dies while all sum in a switch ends the others' sums with an error") {
  const auto run =
      all_reduce({"--algo", "switch", "--ranks", "4", "--size", "1M", "--seconds", "30",
                  "--kill-rank", "1", "--kill-after-ms", "300", "--each-finds-out"});
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  const auto json = run.json();
  for (const std::size_t rank : {0u, 2u, 3u}) {
    CHECK(json["result_codes"][rank] == "ncclRemoteError");
    CHECK(json["time_to_error_ms"][rank].get<double>() < 10'000);
  }
  CHECK(json["elements_wrong"] == 0);
}

TEST_CASE("a missing switch is named, and options that exclude each other are refused") {
  const auto gone = all_reduce({"--algo", "switch", "--switch", "127.0.0.1:9", "--ranks", "2"});
  CHECK(gone.exit_code == 3);
  CHECK_THAT(gone.json()["error"].get<std::string>(),
             Contains("DLCP_COLLNET_SWITCH: rank 0 reports:") && Contains("127.0.0.1:9"));
  using Words = std::vector<std::string>;
  for (const auto& [arguments, words] :
       {std::pair(Words{"--algo", "direct", "--switch", "a"}, "--switch can be used only with"),
        std::pair(Words{"--algo", "switch", "--switch", "a:b"}, "'b' is not a port"),
        std::pair(Words{"--algo", "switch", "--ranks", "33"},
                  "a switch adds the data of at most 32"),
        std::pair(Words{"--algo", "switch", "--switch", "a", "--loss", "1%"}, "--drop")}) {
    const auto run = all_reduce(arguments);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.err, Contains(words));
  }
}

TEST_CASE("direct loses contributions within its budget only, equally on all ranks") {
  for (const char* fill : {"zero", "rescale"}) {
    const auto run = all_reduce(
        {"--algo", "direct", "--ranks", "4", "--size", "1M", "--rounds", "12", "--loss", "2%",
         "--loss-budget", "5%"},
        {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500", std::string("DLCP_LOSS_FILL=") + fill});
    INFO(run.out << run.err);
    REQUIRE(run.exit_code == 0);
    const auto json = run.json();
    CHECK(json["elements_wrong"] == 0);
    CHECK(json["ranks_identical"] == true);
    CHECK(json["lossy_reduces"] > 0);
    CHECK(json["delivered_share_min"] >= 0.95);
    CHECK(json["delivered_share_min"] < 1);
    CHECK(json["relative_mse"] > 0);
    CHECK(json["relative_mse"] < 0.05);
    CHECK(json["lost_bytes"] > 0);
  }
}

TEST_CASE("a ring of all-reduces also loses within its budget, and reports the loss") {
  const auto run = all_reduce({"--algo", "ring", "--ranks", "4", "--size", "1M", "--rounds", "12",
                               "--loss", "2%", "--loss-budget", "20%"},
                              {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500"});
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  const auto json = run.json();
  CHECK(json["algo"] == "ring");
  CHECK(json["elements_wrong"] == 0);
  CHECK(json["ranks_identical"] == true);
  CHECK(json["lost_bytes"] > 0);
  CHECK(json["delivered_share_min"] >= 0.8);
  CHECK(json["delivered_share_min"] < 1);
  CHECK(json["relative_mse"] > 0);
}

TEST_CASE("with a budget direct keeps maxima and integers exact") {
  for (const auto& [type, op] : {std::pair{"f32", "max"}, {"i32", "sum"}, {"f64", "sum"}}) {
    const auto json = check_exact(
        all_reduce({"--algo", "direct", "--type", type, "--op", op, "--ranks", "3", "--size",
                    "512K", "--rounds", "3", "--loss", "2%", "--loss-budget", "5%"},
                   {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500"}));
    CHECK(json["lost_bytes"] == 0);
  }
}

TEST_CASE("all survivors of a killed rank report an error within a time limit") {
  const auto run = all_reduce({"--algo", "direct", "--ranks", "4", "--size", "256K", "--seconds",
                               "30", "--kill-rank", "2", "--kill-after-ms", "200"});
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.seconds < 20);
  const auto json = run.json();
  REQUIRE(json["time_to_error_ms"].size() == 4);
  for (std::size_t rank = 0; rank < 4; rank++) {
    CHECK(json["time_to_error_ms"][rank].is_null() == (rank == 2));
    if (rank != 2) CHECK(json["result_codes"][rank] == "ncclRemoteError");
  }
}

TEST_CASE("unsupported direct reductions are refused with the plugin's or the bench's reason") {
  auto run = run_bench(REFERENCE_TCP, {"--mode", "allreduce", "--algo", "direct", "--ranks", "2"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("exports no ncclCollNetPlugin_v8"));
  run = all_reduce({"--algo", "direct", "--ranks", "2", "--size", "64K", "--rounds", "2"},
                   {"NCCL_SOCKET_IFNAME=lo", "DLCP_COLLNET=off"});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.json()["error"].get<std::string>(), Contains("DLCP_COLLNET=off"));
}
