// All-reduces by hubs: the plugin's own table, and dlcp-hub in separate processes.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <cstring>

#include "catch.h"
#include "collective_group.h"
#include "hub_process.h"
#include "util/rng.h"
#include "util/system/fd.h"

namespace {

using namespace dlcp::test;
using dlcp::Fd;
using dlcp::Rng;

constexpr const char* kToken = "00112233445566778899aabbccddeeff";

CollectivePlugin plugin_with(const std::string& hubs, Settings settings = {}) {
  settings.emplace_back("DLCP_COLLNET_HUBS", hubs);
  return CollectivePlugin(settings);
}

std::vector<ResultCode> reduce(CollectiveGroup& group, std::size_t count, std::uint64_t seed) {
  const auto inputs = random_inputs(group.ranks(), count, seed);
  const auto sum = sum_of(inputs);
  std::vector<std::vector<float>> results(inputs.size(), std::vector<float>(count));
  auto codes = group.all_reduce(inputs, results);
  for (std::size_t rank = 0; rank < inputs.size(); ++rank)
    if (codes[rank] == ResultCode::kSuccess)
      CHECK(std::memcmp(results[rank].data(), sum.data(), count * 4) == 0);
  return codes;
}

void check_connected(CollectiveGroup& group) {
  group.connect();
  for (int i = 0; i < group.ranks(); ++i)
    REQUIRE(group.rank(i).connected == ResultCode::kSuccess);
}

void check_sums(CollectiveGroup& group, std::size_t count) {
  for (const ResultCode code : reduce(group, count, count))
    REQUIRE(code == ResultCode::kSuccess);
}

// All ranks are refused, each with a message that contains `words`.
void check_refused(CollectiveGroup& group, const std::string& words) {
  take_log();
  group.connect();
  int told = 0;
  for (int i = 0; i < group.ranks(); ++i)
    CHECK(group.rank(i).connected != ResultCode::kSuccess);
  for (const std::string& line : take_log())
    told += line.find("all-reduces do not use direct exchange") != line.npos &&
            line.find(words) != line.npos;
  INFO(words);
  CHECK(told == group.ranks());
}

}  // namespace

TEST_CASE("hubs add in rank order, with exact bits, at every size") {
  HubProcess one, two, three;
  for (const std::string& hubs :
       {one.place(), one.place() + "," + two.place() + "," + three.place()}) {
    const auto fixture = plugin_with(hubs);
    CollectiveGroup group(*fixture.plugin, 4);
    check_connected(group);
    for (const std::size_t count : {1u, 352u, 8192u, 65536u, 262144u})
      check_sums(group, count);
  }
}

TEST_CASE("hubs' sums are correct over a network that loses, duplicates and reorders") {
  HubProcess hub;
  const auto fixture =
      plugin_with(hub.place(), {{"DLCP_FAULT", "drop=0.02,dup=0.01,reorder=0.02,seed=3"}});
  CollectiveGroup group(*fixture.plugin, 3);
  check_connected(group);
  for (std::size_t turn = 0; turn < 10; ++turn)
    check_sums(group, 1 + turn * 9973);
}

TEST_CASE(
    "if a hub does not answer, all ranks continue without hubs, and each logs which hub and why") {
  HubProcess hub, gone;
  gone.signal(SIGKILL);
  gone.wait();
  const auto fixture =
      plugin_with(hub.place() + "," + gone.place(), {{"DLCP_COLLNET_TIMEOUT", "4"}});
  CollectiveGroup group(*fixture.plugin, 3);
  const auto began = std::chrono::steady_clock::now();
  check_refused(group, "hub " + gone.place() + ": cannot connect to 127.0.0.1: Connection refused");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
}

TEST_CASE("a hub is reached if only one of its host name's addresses answers") {
  HubProcess hub;  // at 127.0.0.1; most systems also know localhost as ::1, and try that first
  const auto fixture = plugin_with("localhost:" + std::to_string(hub.port()));
  CollectiveGroup group(*fixture.plugin, 2);
  check_connected(group);
  check_sums(group, 5000);
}

TEST_CASE("a token unknown to the hub is refused, and a known one is accepted") {
  const TextFile tokens("team-a " + std::string(kToken) + " jobs=1\n");
  const TextFile right(std::string(kToken) + "\n"), wrong("ff112233445566778899aabbccddeeff");
  HubProcess hub({"--token-file", tokens.path()});
  for (const std::string& path : {wrong.path(), std::string()}) {
    const auto fixture = plugin_with(hub.place(), {{"DLCP_HUB_TOKEN_FILE", path}});
    CollectiveGroup group(*fixture.plugin, 2);
    check_refused(group, "it refused this rank: wrong token");
  }
  const auto fixture = plugin_with(hub.place(), {{"DLCP_HUB_TOKEN_FILE", right.path()}});
  CollectiveGroup group(*fixture.plugin, 2);
  check_connected(group);
  check_sums(group, 5000);
  CollectiveGroup second(*fixture.plugin, 2, 8);
  check_refused(second, "it refused this rank: full: tenant team-a has 1 jobs");
  check_sums(group, 5000);
}

TEST_CASE(
    "a hub without memory refuses a group for all its ranks, and accepts it after another has "
    "left") {
  HubProcess hub({"--memory", "96M"});
  const auto fixture = plugin_with(hub.place());  // 64 MiB per group
  {
    CollectiveGroup first(*fixture.plugin, 3, 1);
    check_connected(first);
    CollectiveGroup second(*fixture.plugin, 3, 2);
    check_refused(second, "it refused this rank: full: the job asks for 67108864 bytes");
    check_sums(first, 70'000);
  }
  // The hub notices with a delay that the first group has gone.
  bool came = false;
  for (std::uint64_t number = 3; number < 50 && !came; ++number) {
    CollectiveGroup third(*fixture.plugin, 3, number);
    third.connect();
    came = third.rank(0).connected == ResultCode::kSuccess;
    if (came) check_sums(third, 70'000);
  }
  CHECK(came);
}

TEST_CASE("a call that exceeds a hub's memory fails with the setting's name") {
  HubProcess hub;
  const auto fixture = plugin_with(hub.place(), {{"DLCP_COLLNET_MEMORY", "1m"}});
  CollectiveGroup group(*fixture.plugin, 2);
  check_connected(group);
  const auto codes = reduce(group, 4 << 20, 1);
  CHECK(codes[0] == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(), Contains("staging of each hub"));
}

TEST_CASE("a hub that is killed ends its jobs' all-reduces with an error within a time limit") {
  HubProcess hub, other;
  const auto fixture = plugin_with(hub.place() + "," + other.place(), {{"DLCP_PEER_TIMEOUT", "3"}});
  CollectiveGroup group(*fixture.plugin, 3);
  check_connected(group);
  check_sums(group, 50'000);
  hub.signal(SIGKILL);
  const auto began = std::chrono::steady_clock::now();
  const auto codes = reduce(group, 50'000, 2);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  for (const ResultCode code : codes)
    CHECK(code == ResultCode::kRemoteError);
}

TEST_CASE("a rank that leaves ends its own group at the hub, and no other group") {
  HubProcess hub;
  const auto fixture = plugin_with(hub.place());
  CollectiveGroup group(*fixture.plugin, 3, 1), other(*fixture.plugin, 3, 2);
  check_connected(group);
  check_connected(other);
  check_sums(group, 1000);
  group.close(1);
  const auto codes = reduce(group, 1000, 2);
  CHECK(codes[0] == ResultCode::kRemoteError);
  CHECK(codes[2] == ResultCode::kRemoteError);
  check_sums(other, 100'000);
}

TEST_CASE("a hub that is told to terminate refuses new jobs and exits after the last one") {
  HubProcess hub;
  const auto fixture = plugin_with(hub.place());
  {
    CollectiveGroup group(*fixture.plugin, 2, 1);
    check_connected(group);
    hub.signal(SIGTERM);
    REQUIRE(within(std::chrono::seconds(10),
                   [&] { return hub.said().find("draining") != std::string::npos; }));
    CollectiveGroup second(*fixture.plugin, 2, 2);
    check_refused(second, "it refused this rank: the hub is shutting down");
    check_sums(group, 3000);
  }
  CHECK(hub.wait() == 0);
}

TEST_CASE("foreign connections change nothing, whatever they send and however many there are") {
  HubProcess hub;
  const auto fixture = plugin_with(hub.place());
  CollectiveGroup group(*fixture.plugin, 2);
  check_connected(group);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(hub.port()));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<Fd> strangers;
  Rng rng(4);
  for (int i = 0; i < 150; ++i) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(strangers.back().get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    std::string bytes(rng.below(700), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(rng.below(256));
    if (rng.chance(0.5)) bytes = std::string("\xbb\0DLCH\1\2", 8) + bytes;
    (void)::send(strangers.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  check_sums(group, 10'000);
  CollectiveGroup second(*fixture.plugin, 2, 2);
  check_connected(second);
  check_sums(second, 10'000);
}
