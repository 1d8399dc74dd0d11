// dlcp bench with DLCP's own plugin, over loopback UDP with faults, as NCCL would use a bad
// network. The bench checks every byte, and flagged lines at the moment they become readable.
#include "bench_run.h"
#include "catch.h"
#include "sanitized.h"

namespace {

const std::vector<std::string> kBadNetwork = {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500",
                                              "DLCP_FAULT=drop=0.03,dup=0.02,reorder=0.1,seed=5"};

nlohmann::json check_exact(const BenchRun& run) {
  INFO(run.out << run.err);
  REQUIRE(run.exit_code == 0);
  const auto json = run.json();
  CHECK(json["plugin"] == "DLCP");
  CHECK(json["bytes_wrong"] == 0);
  CHECK(json["elements_wrong"] == 0);
  CHECK(json["error"].is_null());
  return json;
}

}  // namespace

TEST_CASE("LL lines stay complete while packets are lost, duplicated and reordered") {
  const auto json = check_exact(run_bench(
      DLCP_PLUGIN, {"--flags", "ll", "--size", "48K", "--iterations", "200"}, kBadNetwork));
  CHECK(json["messages"] == 200);
  CHECK(json["counters"]["packets_retransmitted"].get<int>() > 0);
}

TEST_CASE("LL128 lines stay complete while packets are lost, duplicated and reordered") {
  const auto json = check_exact(run_bench(
      DLCP_PLUGIN, {"--flags", "ll128", "--size", "120K", "--iterations", "200"}, kBadNetwork));
  CHECK(json["messages"] == 200);
  CHECK(json["counters"]["packets_retransmitted"].get<int>() > 0);
}

TEST_CASE("a ring of four sums exactly over a bad network") {
  check_exact(run_bench(DLCP_PLUGIN,
                        {"--mode", "ring", "--ranks", "4", "--size", "2M", "--iterations", "3"},
                        kBadNetwork));
}

TEST_CASE("incast and alltoall are exact over a bad network") {
  for (const char* mode : {"incast", "alltoall"}) {
    check_exact(run_bench(DLCP_PLUGIN,
                          {"--mode", mode, "--ranks", "4", "--size", "64K", "--iterations", "20"},
                          kBadNetwork));
  }
}

TEST_CASE("corruption is detected and repaired with payload checksums, and refused without") {
  const std::vector<std::string> full = {"NCCL_SOCKET_IFNAME=lo", "DLCP_CHECKSUM=full",
                                         "DLCP_MTU=1500", "DLCP_FAULT=corrupt=0.05,seed=3"};
  const auto json =
      check_exact(run_bench(DLCP_PLUGIN, {"--size", "256K", "--iterations", "20"}, full));
  CHECK(json["counters"]["dropped_unauthentic"].get<int>() > 0);

  const auto refused = run_bench(DLCP_PLUGIN, {"--size", "64K", "--iterations", "1"},
                                 {"NCCL_SOCKET_IFNAME=lo", "DLCP_FAULT=corrupt=0.05"});
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.out + refused.err, Contains("DLCP_CHECKSUM=full"));
}

TEST_CASE("every version of the interface carries the same bytes") {
  for (const char* abi : {"6", "8", "9", "10", "11", "12"}) {
    const auto json =
        check_exact(run_bench(DLCP_PLUGIN, {"--abi", abi, "--size", "100003", "--iterations", "20"},
                              {"NCCL_SOCKET_IFNAME=lo"}));
    CHECK(json["abi"].get<int>() == std::stoi(abi));
  }
}

TEST_CASE("a killed rank fails every other rank within the timeout") {
  const auto run = run_bench(DLCP_PLUGIN,
                             {"--mode", "ring", "--ranks", "4", "--size", "4M", "--iterations",
                              "100000", "--kill-rank", "2", "--kill-after-ms", "300"},
                             {"NCCL_SOCKET_IFNAME=lo", "DLCP_PEER_TIMEOUT=1.5"});
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);  // as requested: every survivor has reported an error
  const auto json = run.json();
  for (const std::size_t rank : {0u, 1u, 3u}) {
    INFO("rank " << rank);
    CHECK(json["result_codes"][rank] == "ncclRemoteError");
    CHECK(json["time_to_error_ms"][rank].get<double>() < 6000);
  }
}

TEST_CASE("a ring with a budget loses within it, equally on all ranks, and without one nothing") {
  const std::vector<std::string> lossy = {"NCCL_SOCKET_IFNAME=lo", "DLCP_MTU=1500",
                                          "DLCP_FAULT=drop=0.01,seed=9"};
  const std::vector<std::string> ring = {
      "--mode", "ring", "--ranks",      "4",
      "--size", "4M",   "--iterations", dlcp::test::kSanitized ? "8" : "30"};
  auto licensed = ring;
  licensed.insert(licensed.end(), {"--loss-budget", "2%"});
  const auto json = check_exact(run_bench(DLCP_PLUGIN, licensed, lossy));
  CHECK(json["ranks_identical"] == true);
  CHECK(json["lossy_reduces"].get<int>() > 0);
  CHECK(json["lost_bytes"].get<std::int64_t>() > 0);
  CHECK(json["delivered_share_min"].get<double>() >= 0.98);
  CHECK(json["delivered_share_min"].get<double>() < 1);
  CHECK(json["relative_mse"].get<double>() > 0);
  CHECK(json["relative_mse"].get<double>() < 0.1);

  const auto exact = check_exact(run_bench(DLCP_PLUGIN, ring, lossy));
  CHECK(exact["counters"]["bytes_lost"] == 0);
  CHECK(exact["counters"]["bytes_retransmitted"].get<std::int64_t>() > 0);
}

TEST_CASE("a budget is refused if it cannot be enforced") {
  const auto stream = run_bench(DLCP_PLUGIN, {"--mode", "lat", "--loss-budget", "1%"});
  CHECK(stream.exit_code == 2);
  CHECK_THAT(stream.err, Contains("--loss-budget can be used only with"));
  const auto other = run_bench(REFERENCE_TCP, {"--mode", "ring", "--loss-budget", "1%"},
                               {"NCCL_SOCKET_IFNAME=lo"});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.out + other.err, Contains("has no profiler"));
  const auto large = run_bench(DLCP_PLUGIN, {"--mode", "ring", "--loss-budget", "0.5"});
  CHECK(large.exit_code == 2);
  CHECK_THAT(large.err, Contains("1e-06..0.25"));
}
