// All-reduces by direct exchange through the plugin's own table, over loopback.
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "catch.h"
#include "collective_group.h"
#include "exchange.h"
#include "nccl/abi/net/net_v10.h"
#include "nccl/abi/tuner.h"

namespace {

using namespace dlcp::test;

void check_sums(CollectiveGroup& group, std::size_t count, std::uint64_t seed) {
  const auto inputs = random_inputs(group.ranks(), count, seed);
  std::vector<std::vector<float>> results(inputs.size(), std::vector<float>(count));
  for (const ResultCode code : group.all_reduce(inputs, results))
    REQUIRE(code == ResultCode::kSuccess);
  const auto sum = sum_of(inputs);
  for (const auto& result : results)
    REQUIRE(std::memcmp(result.data(), sum.data(), count * 4) == 0);
}

}  // namespace

TEST_CASE("all ranks have the sum in rank order, with exact bits, at every size") {
  for (const int ranks : {2, 3, 8}) {
    CollectivePlugin fixture;
    CollectiveGroup group(*fixture.plugin, ranks);
    group.connect();
    for (int i = 0; i < ranks; ++i)
      REQUIRE(group.rank(i).connected == ResultCode::kSuccess);
    for (const std::size_t count : {1u, 352u, 8192u, 65536u, 262144u, 1000003u})
      check_sums(group, count, count);
  }
}

TEST_CASE("ranks with several devices use as many as the setting allows") {
  // Loopback and any other device with an address; all packets stay on this machine.
  CollectivePlugin fixture(Settings{{"DLCP_IFNAME", "lo,e,w"}, {"DLCP_COLLNET_RAILS", "2"}});
  int devices = 0;
  REQUIRE(fixture.plugin->net().devices(&devices) == ResultCode::kSuccess);
  for (const int ranks : {2, 3, 5}) {
    CollectiveGroup group(*fixture.plugin, ranks);
    group.connect();
    for (int i = 0; i < ranks; ++i)
      REQUIRE(group.rank(i).connected == ResultCode::kSuccess);
    for (const std::size_t count : {1u, 8192u, 1000003u})
      check_sums(group, count, count);
  }
  if (devices < 2) WARN("this machine has one device: rails were not tried");
}

TEST_CASE("sums are correct over a network that loses, duplicates and reorders") {
  CollectivePlugin fixture(Settings{{"DLCP_FAULT", "drop=0.02,dup=0.01,reorder=0.02,seed=3"}});
  CollectiveGroup group(*fixture.plugin, 4);
  group.connect();
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    check_sums(group, 1 + seed * 9973, seed);
}

TEST_CASE("a rank that does not take part is named to all others at once") {
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 3);
  set_environment({{"DLCP_COLLNET", "off"}});
  constexpr char kRefusal[] =
      "DLCPnot\0DLCP_COLLNET=off";  // the handle that such a rank's listen writes
  std::memset(group.rank(1).handle.data(), 0, group.rank(1).handle.size());
  std::memcpy(group.rank(1).handle.data(), kRefusal, sizeof kRefusal);
  take_log();
  group.connect();
  for (int i = 0; i < 3; ++i)
    CHECK(group.rank(i).connected == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(),
             Contains("rank 1 of the group: it does not take part: DLCP_COLLNET=off"));
}

TEST_CASE("with collnet off, listen still succeeds, so that no rank waits for another's") {
  CollectivePlugin fixture(Settings{{"DLCP_COLLNET", "off"}});
  take_log();
  CollectiveGroup group(*fixture.plugin, 2);
  CHECK_THAT(joined_log(),
             Contains("DLCP_COLLNET=off"));  // logged by the rank itself, before the others
  group.connect();
  CHECK(group.rank(0).connected == ResultCode::kInvalidUsage);
  CHECK(group.rank(1).connected == ResultCode::kInvalidUsage);
}

TEST_CASE("a rank that does not arrive is named to all others, within the timeout") {
  CollectivePlugin fixture(Settings{{"DLCP_COLLNET_TIMEOUT", "1"}});
  CollectiveGroup group(*fixture.plugin, 4);
  take_log();
  const auto began = std::chrono::steady_clock::now();
  group.connect({2});
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(4));
  for (const int i : {0, 1, 3}) {
    CHECK(group.rank(i).connected != ResultCode::kSuccess);
    CHECK(group.rank(i).group == nullptr);
  }
  CHECK_THAT(joined_log(), Contains("rank 2 has not connected within 1 s"));
}

TEST_CASE("without contexts, a set-up that fails ends no ring, and the engines end with the last") {
  const std::string stats = "/tmp/dlcp-stats-" + std::to_string(getpid());
  set_environment({{"DLCP_COLLNET_TIMEOUT", "2"}, {"DLCP_STATS_FILE", stats}});
  Plugin plugin;
  const auto& net =
      *static_cast<const dlcp::nccl::NetV10*>(plugin.symbol(dlcp::nccl::kNetSymbolV10));
  const auto& table =
      *static_cast<const dlcp::nccl::CollNetV10*>(plugin.symbol("ncclCollNetPlugin_v10"));
  REQUIRE(net.init(logger, nullptr) == ResultCode::kSuccess);
  REQUIRE(table.init(logger) == ResultCode::kSuccess);
  Link ring(plugin.net());
  Handle handle;
  REQUIRE(net.listen(0, handle.data(), &ring.listener) == ResultCode::kSuccess);
  REQUIRE(within(std::chrono::seconds(10), [&] {
    if (ring.send == nullptr) net.connect(0, nullptr, handle.data(), &ring.send, nullptr);
    if (ring.recv == nullptr) net.accept(ring.listener, &ring.recv, nullptr);
    return ring.send != nullptr && ring.recv != nullptr;
  }));
  for (const int present : {2, 3}) {  // of three ranks
    std::array<Handle, 3> handles;
    std::array<void*, 3> at{}, listening{}, groups{};
    for (std::size_t i = 0; i < 3; ++i) {
      at[i] = handles[i].data();
      REQUIRE(table.listen(0, at[i], &listening[i]) == ResultCode::kSuccess);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < present; ++i)
      threads.emplace_back([&, i] {
        const auto rank = static_cast<std::size_t>(i);
        auto copy = at;
        table.connect(copy.data(), 3, i, listening[rank], &groups[rank]);
        if (groups[rank] == nullptr) listening[rank] = nullptr;  // connect has closed it
      });
    for (auto& thread : threads)
      thread.join();
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK((groups[i] != nullptr) == (present == 3));
      if (listening[i] != nullptr) table.closeListen(listening[i]);
      if (groups[i] != nullptr) table.closeColl(groups[i]);
    }
    exchange(ring, 10'000, 1);
  }
  ring.close();
  CHECK(std::ifstream(stats).good());  // written when the last engine has ended
  unlink(stats.c_str());
}

TEST_CASE("a rank that leaves ends the others' all-reduces with an error") {
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 3);
  group.connect();
  check_sums(group, 1000, 1);
  group.close(1);
  const auto inputs = random_inputs(3, 1000, 2);
  std::vector<std::vector<float>> results(3, std::vector<float>(1000));
  const auto codes = group.all_reduce(inputs, results);
  CHECK(codes[0] == ResultCode::kRemoteError);
  CHECK(codes[2] == ResultCode::kRemoteError);
}

TEST_CASE("the tuner finds a group by its communicator, or by the number of nodes if unknown") {
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 2, 77);
  group.connect();
  const auto& tuner =
      *static_cast<const dlcp::nccl::TunerV6*>(fixture.plugin->symbol("ncclTunerPlugin_v6"));
  const auto chain_after = [&](std::uint64_t comm_id, std::size_t nodes) {
    void* context = nullptr;
    REQUIRE(tuner.init(&context, comm_id, nodes, nodes, logger, nullptr, nullptr) ==
            ResultCode::kSuccess);
    std::array<float, 7 * 3> costs;
    costs.fill(dlcp::nccl::kNotAllowed);
    costs[3 * 3 + 2] = 1;
    int channels = 0;
    REQUIRE(tuner.getCollInfo(context, 4, 1 << 20, 1, reinterpret_cast<float**>(costs.data()), 7, 3,
                              0, &channels) == ResultCode::kSuccess);
    CHECK(tuner.finalize(context) == ResultCode::kSuccess);
    return costs[3 * 3 + 2];
  };
  CHECK(chain_after(77, 8) ==
        dlcp::nccl::kNotAllowed);  // a group of two, whatever number NCCL passes
  CHECK(chain_after(78, 2) == dlcp::nccl::kNotAllowed);
  CHECK(chain_after(78, 8) > 56);
}

TEST_CASE("communicators of one process do not wait for each other") {
  CollectivePlugin fixture;
  CollectiveGroup one(*fixture.plugin, 2, 1), other(*fixture.plugin, 3, 2);
  one.connect();
  other.connect();
  std::vector<float> input(5000, 1.0f), result(5000);
  void* request = nullptr;  // rank 0 only: it waits for rank 1
  REQUIRE(one.table().iallreduce(one.rank(0).group, input.data(), result.data(), 5000, 7, 0,
                                 nullptr, nullptr, &request) == ResultCode::kSuccess);
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    check_sums(other, 50'000, seed);
  int done = 1;
  REQUIRE(one.table().test(request, &done, nullptr) == ResultCode::kSuccess);
  CHECK(done == 0);
}

TEST_CASE("unsupported reductions, and calls without elements, are refused") {
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  int supported = -1;
  for (int type = 0; type < 10; ++type) {
    for (int op = 0; op < 4; ++op) {
      REQUIRE(group.table().reduceSupport(type, op, &supported) == ResultCode::kSuccess);
      CHECK(supported == 1);
    }
  }
  for (const auto& [type, op] : {std::pair{10, 0}, {-1, 0}, {7, 4}, {7, -1}}) {
    REQUIRE(group.table().reduceSupport(type, op, &supported) == ResultCode::kSuccess);
    CHECK(supported == 0);
    void* request = nullptr;
    float value = 0;
    CHECK(group.table().iallreduce(group.rank(0).group, &value, &value, 1, type, op, nullptr,
                                   nullptr, &request) == ResultCode::kInvalidUsage);
    CHECK(request == nullptr);
  }
}

TEST_CASE("a call that exceeds the staging fails with the setting's name") {
  CollectivePlugin fixture(Settings{{"DLCP_COLLNET_MEMORY", "1m"}});
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  std::vector<float> input(4 << 20), result(4 << 20);
  void* request = nullptr;
  take_log();
  CHECK(group.table().iallreduce(group.rank(0).group, input.data(), result.data(), input.size(), 7,
                                 0, nullptr, nullptr, &request) == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(), Contains("DLCP_COLLNET_MEMORY"));
}
