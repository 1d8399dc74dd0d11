// The tuner as NCCL loads it: for which communicators it acts, by interface version.
#include <dlfcn.h>

#include <array>

#include "catch.h"
#include "dlcp/communicator_class.h"
#include "nccl/abi/tuner.h"
#include "nccl/plugin.h"

namespace {

using namespace dlcp::test;
using dlcp::nccl::kNotAllowed;

constexpr int kAlgorithms = 7;
constexpr int kProtocols = 3;
constexpr int kAllReduce = 4;
constexpr std::size_t kBytes = 64 << 20;
constexpr std::size_t kRanks = 4;
constexpr std::uint64_t kCommunicator = 42;  // plugin.h's Rank

using Costs = std::array<float, kAlgorithms * kProtocols>;

Costs tree_is_best() {
  Costs costs;
  costs.fill(kNotAllowed);
  costs[2] = 100;               // Tree, Simple
  costs[kProtocols + 2] = 105;  // Ring, Simple
  return costs;
}

template <class Tuner>
bool steers_named(const Plugin& plugin, const char* symbol, std::uint64_t comm_id) {
  const auto& tuner = *static_cast<const Tuner*>(plugin.symbol(symbol));
  void* context = nullptr;
  REQUIRE(tuner.init(&context, comm_id, kRanks, kRanks, logger, nullptr, nullptr) ==
          ResultCode::kSuccess);
  Costs costs = tree_is_best();
  int channels = 0;
  REQUIRE(tuner.getCollInfo(context, kAllReduce, kBytes, 1, reinterpret_cast<float**>(costs.data()),
                            kAlgorithms, kProtocols, 0, &channels) == ResultCode::kSuccess);
  CHECK(channels == 0);
  CHECK(tuner.finalize(context) == ResultCode::kSuccess);
  return costs[kProtocols + 2] == 0;
}

// `more`: arguments of getCollInfo that only this version has.
template <class Tuner>
bool steers_nameless(const Plugin& plugin, const char* symbol, auto... more) {
  const auto& tuner = *static_cast<const Tuner*>(plugin.symbol(symbol));
  void* context = nullptr;
  REQUIRE(tuner.init(kRanks, kRanks, logger, &context) == ResultCode::kSuccess);
  Costs costs = tree_is_best();
  int channels = 0;
  REQUIRE(tuner.getCollInfo(context, kAllReduce, kBytes, 1, reinterpret_cast<float**>(costs.data()),
                            kAlgorithms, kProtocols, more..., &channels) == ResultCode::kSuccess);
  CHECK(tuner.destroy(context) == ResultCode::kSuccess);
  return costs[kProtocols + 2] == 0;
}

bool steers_v3(const Plugin& plugin) {
  return steers_nameless<dlcp::nccl::TunerV3>(plugin, dlcp::nccl::kTunerSymbolV3);
}

bool steers_v4(const Plugin& plugin) {
  return steers_nameless<dlcp::nccl::TunerV4>(plugin, dlcp::nccl::kTunerSymbolV4, 0);
}

bool steers_v5(const Plugin& plugin, std::uint64_t comm_id) {
  return steers_named<dlcp::nccl::TunerV5>(plugin, dlcp::nccl::kTunerSymbolV5, comm_id);
}

bool steers_v6(const Plugin& plugin, std::uint64_t comm_id) {
  return steers_named<dlcp::nccl::TunerV6>(plugin, dlcp::nccl::kTunerSymbolV6, comm_id);
}

// A communicator with that traffic class, as NCCL opens it.
struct Communicator {
  Communicator(const NetV12& of, int communicator_class) : net(of) {
    dlcp::nccl::NetCommConfigV12 config{communicator_class};
    REQUIRE(net.init(&context, kCommunicator, &config, logger, nullptr) == ResultCode::kSuccess);
  }
  ~Communicator() { net.finalize(context); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  const NetV12& net;
  void* context = nullptr;
};

}  // namespace

TEST_CASE("with the process's budget every version of the tuner acts") {
  set_environment({{"DLCP_LOSS_BUDGET", "0.01"}, {"DLCP_LOSS_SCOPE", "data-parallel"}});
  Plugin plugin;
  Communicator communicator(plugin.net(), -1);
  CHECK(steers_v3(plugin));
  CHECK(steers_v4(plugin));
  CHECK(steers_v5(plugin, kCommunicator));
  CHECK(steers_v6(plugin, kCommunicator));
}

TEST_CASE("a communicator's own budget is available in versions that identify the communicator") {
  set_environment();
  Plugin plugin;
  Communicator communicator(plugin.net(), dlcp::encode({.budget_ppm = 10'000}));
  CHECK_FALSE(steers_v3(plugin));
  CHECK_FALSE(steers_v4(plugin));
  CHECK(steers_v5(plugin, kCommunicator));
  CHECK(steers_v6(plugin, kCommunicator));
  CHECK_FALSE(steers_v5(plugin, kCommunicator + 1));
}

TEST_CASE("the tuner does not act on an exact communicator, whatever the process's budget") {
  set_environment({{"DLCP_LOSS_BUDGET", "0.01"}, {"DLCP_LOSS_SCOPE", "data-parallel"}});
  Plugin plugin;
  Communicator communicator(plugin.net(), dlcp::encode({}));
  CHECK_FALSE(steers_v5(plugin, kCommunicator));
  CHECK(steers_v5(plugin, kCommunicator + 1));
}

TEST_CASE("the tuner does not act without a budget, or with wrong settings") {
  SECTION("no budget") {
    set_environment();
  }
  SECTION("a budget without a scope") {
    set_environment({{"DLCP_LOSS_BUDGET", "0.01"}});
  }
  Plugin plugin;
  Communicator communicator(plugin.net(), -1);
  CHECK_FALSE(steers_v3(plugin));
  CHECK_FALSE(steers_v6(plugin, kCommunicator));
}

TEST_CASE("ranks with different budgets, which could choose differently, refuse to connect") {
  set_environment();
  Plugin plugin;
  Communicator lossy(plugin.net(), dlcp::encode({.budget_ppm = 10'000}));
  Communicator exact(plugin.net(), -1);
  Handle handle;
  void* listener = nullptr;
  REQUIRE(plugin.net().listen(lossy.context, 0, handle.data(), &listener) == ResultCode::kSuccess);
  take_log();
  void* send = nullptr;
  CHECK(plugin.net().connect(exact.context, 0, handle.data(), &send, nullptr) ==
        ResultCode::kInvalidUsage);
  CHECK(send == nullptr);
  void* recv = nullptr;
  ResultCode code = ResultCode::kSuccess;
  CHECK(within(std::chrono::seconds(1), [&] {
    code = plugin.net().accept(listener, &recv, nullptr);
    return code != ResultCode::kSuccess;
  }));
  CHECK(code == ResultCode::kInvalidUsage);
  CHECK(recv == nullptr);
  const auto said = await_log(2);
  CHECK(plugin.net().closeListen(listener) == ResultCode::kSuccess);
  REQUIRE(said.size() == 2);
  const bool connector_first = Contains("the peer's rank may lose 1%").match(said[0]);
  CHECK_THAT(said[connector_first ? 0 : 1], Contains("the peer's rank may lose 1%"));
  CHECK_THAT(said[connector_first ? 1 : 0], Contains("the peer's rank may lose 0%") &&
                                                Contains("but this rank may lose 1%") &&
                                                Contains("see the peer's log"));
}
