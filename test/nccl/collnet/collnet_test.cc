// All-reduces by direct exchange through the plugin's own table, over loopback.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "catch.h"
#include "collective_group.h"
#include "nccl/abi/net/net_v10.h"
#include "nccl/abi/profiler/profiler_v4.h"
#include "nccl/abi/tuner.h"
#include "nccl/exchange.h"

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

// A communicator of this process as NCCL's profiler interface describes it.
class Profiled {
 public:
  Profiled(const Plugin& plugin, std::uint64_t comm_id)
      : table_(static_cast<const ProfilerV4*>(plugin.symbol(dlcp::nccl::kProfilerSymbolV4))) {
    int mask = 0;
    REQUIRE(table_->init(&context_, &mask, "", comm_id, kRanks, kRanks, 0, logger) ==
            ResultCode::kSuccess);
  }
  ~Profiled() { table_->finalize(context_); }
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;

  // An all-reduce of `count` floats by CollNet's chain, in one call of `bytes`.
  void announce(std::size_t count, int bytes) {
    ProfilerEventV4 collective{};
    collective.type = dlcp::nccl::kProfileColl;
    collective.coll.func = "AllReduce";
    collective.coll.count = count;
    collective.coll.datatype = "ncclFloat32";
    collective.coll.nChannels = 1;
    collective.coll.algo = "COLLNET_CHAIN";
    collective.coll.proto = "SIMPLE";
    void* parent = nullptr;
    table_->startEvent(context_, &parent, &collective);
    for (const int sends : {0, 1}) {
      ProfilerEventV4 operation{};
      operation.type = dlcp::nccl::kProfileProxyOp;
      operation.parentObj = parent;
      operation.proxyOp = {getpid(), 0, kRanks, 1, bytes, sends};
      void* ignored = nullptr;
      table_->startEvent(context_, &ignored, &operation);
    }
  }

 private:
  using ProfilerV4 = dlcp::nccl::ProfilerV4;
  using ProfilerEventV4 = dlcp::nccl::ProfilerEventV4;
  static constexpr int kRanks = 2;  // as a peer, NCCL's number for the network
  const ProfilerV4* table_;
  void* context_ = nullptr;
};

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
    costs[1 * 3 + 2] = 1000;  // a ring
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

TEST_CASE(
    "if a host has several GPUs, all its processes choose the same algorithm and chunk size") {
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 3, 77);  // NCCL connects it in one process of each host
  group.connect();
  const auto& tuner =
      *static_cast<const dlcp::nccl::TunerV6*>(fixture.plugin->symbol("ncclTunerPlugin_v6"));
  const auto choice = [&](std::uint64_t comm_id, std::size_t ranks) {
    void* context = nullptr;
    REQUIRE(tuner.init(&context, comm_id, ranks, 3, logger, nullptr, nullptr) ==
            ResultCode::kSuccess);
    std::array<float, 7 * 3> costs;
    costs.fill(dlcp::nccl::kNotAllowed);
    costs[3 * 3 + 2] = 1;
    int channels = 0;
    REQUIRE(tuner.getCollInfo(context, 4, 1 << 20, 1, reinterpret_cast<float**>(costs.data()), 7, 3,
                              0, &channels) == ResultCode::kSuccess);
    std::size_t chunk = 4096;
    REQUIRE(tuner.getChunkSize(context, 4, 1 << 20, 3, 2, 2, &chunk) == ResultCode::kSuccess);
    CHECK(tuner.finalize(context) == ResultCode::kSuccess);
    return std::pair(costs[3 * 3 + 2], chunk);
  };
  constexpr std::uint64_t kElsewhere = 78;  // as in a process that has not connected the group
  CHECK(choice(77, 6) == choice(kElsewhere, 6));
  CHECK(choice(77, 3) != choice(kElsewhere, 3));  // here every rank's process has the group
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

TEST_CASE("if ranks pass different tensors, the log says so") {
  constexpr std::uint64_t kCommunicator = 42;
  constexpr std::size_t kCount = 65536;
  std::vector<float> input(kCount, 1);  // longer alive than the plugin, which may still use it
  std::vector<std::vector<float>> results(2, std::vector<float>(kCount));
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 2, kCommunicator);
  group.connect();
  Profiled profiled(*fixture.plugin, kCommunicator);
  profiled.announce(60000, kCount * 4);  // for the first rank's call
  profiled.announce(50000, kCount * 4);
  std::array<void*, 2> requests{};
  ResultCode code = ResultCode::kSuccess;
  take_log();
  CHECK(within(std::chrono::seconds(10), [&] {  // until one of them fails
    for (int rank = 0; rank < 2 && code == ResultCode::kSuccess; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      int done = 0;
      code = requests[i] != nullptr ? group.table().test(requests[i], &done, nullptr)
                                    : group.start(rank, input, results[i], &requests[i]);
    }
    return code != ResultCode::kSuccess;
  }));
  CHECK(code == ResultCode::kInternalError);
  CHECK_THAT(joined_log(), Contains("of the group ") && Contains("different orders"));
  for (void* const request : requests)
    CHECK(group.finish(request) != ResultCode::kTimeout);
}

TEST_CASE("the lengths of a parent's all-reduces do not cut those of a child that shares it") {
  constexpr std::uint64_t kParent = 42, kChild = 43;  // 42 is the fixture's, which has a context
  constexpr std::size_t kCount = 65536, kShorter = 60000;
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 2, kParent);  // NCCL gives a child the parent's context
  group.connect();
  Profiled parent(*fixture.plugin, kParent);
  const std::vector<std::vector<float>> inputs(2, std::vector<float>(kCount, 1));
  std::vector<std::vector<float>> results(2, std::vector<float>(kCount, -99));
  const auto announce = [&] {  // once for each rank, because one table serves both here
    parent.announce(kShorter, kCount * 4);
    parent.announce(kShorter, kCount * 4);
  };
  const auto unchanged = [&] {
    return std::count(results[0].begin(), results[0].end(), -99.0f) +
           std::count(results[1].begin(), results[1].end(), -99.0f);
  };
  announce();
  group.all_reduce(inputs, results);
  CHECK(unchanged() == 2 * (kCount - kShorter));  // alone, the parent's own lengths are used
  announce();
  SECTION("which has no context") {
    Profiled child(*fixture.plugin, kChild);
    announce();
  }
  SECTION("which has a context that its connections do not use (NCCL 2.28.3)") {
    void* unused = nullptr;
    dlcp::nccl::NetCommConfigV12 config{-1};
    REQUIRE(fixture.plugin->net().init(&unused, kChild, &config, logger, nullptr) ==
            ResultCode::kSuccess);
    Profiled child(*fixture.plugin, kChild);
    child.announce(kCount, kCount * 4);
    announce();
    fixture.plugin->net().finalize(unused);
  }
  results.assign(2, std::vector<float>(kCount, -99));
  group.all_reduce(inputs, results);  // the child's call
  CHECK(unchanged() == 0);
  CHECK_THAT(joined_log(), !Contains("whole buffers"));
}
