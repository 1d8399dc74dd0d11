// Ranks in separate processes: a killed peer, a receiver that leaves early, and settings that
// differ or are wrong on one rank.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "board.h"
#include "catch.h"
#include "nccl/abi/collnet.h"
#include "nccl/abi/net/net_v8.h"
#include "nccl/exchange.h"
#include "sanitized.h"

namespace {

using namespace dlcp::test;
using namespace std::chrono_literals;

// Passes `bytes` round the ring until a call fails; returns its code.
ResultCode circulate(const NetV12& net, const Link& link, std::size_t bytes,
                     std::atomic<int>& laps) {
  Mover sender(net, link.send, true, bytes);
  Mover receiver(net, link.recv, false, bytes);
  for (;;) {
    ResultCode code{};
    void* receive = receiver.try_post(0, bytes, &code);
    if (code != ResultCode::kSuccess) return code;
    void* send = sender.try_post(0, bytes, &code);
    if (code != ResultCode::kSuccess) return code;
    for (void* request : {receive, send}) {
      if (request != nullptr) {
        if ((code = finish(net, request)) != ResultCode::kSuccess) return code;
      }
    }
    laps.fetch_add(1);
  }
}

// A connection of this process to itself through an interface without contexts.
Link link_to_itself(const Plugin& plugin, const dlcp::nccl::NetV8& net) {
  Link link(plugin.net());
  Handle handle;
  REQUIRE(net.listen(0, handle.data(), &link.listener) == ResultCode::kSuccess);
  REQUIRE(within(10s, [&] {
    if (link.send == nullptr)
      REQUIRE(net.connect(0, handle.data(), &link.send, nullptr) == ResultCode::kSuccess);
    if (link.recv == nullptr)
      REQUIRE(net.accept(link.listener, &link.recv, nullptr) == ResultCode::kSuccess);
    return link.send != nullptr && link.recv != nullptr;
  }));
  return link;
}

std::string text_of(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE(
    "after a rank is killed mid-transfer every other rank gets a remote error, neighbour or not") {
  constexpr int kRanks = 5;
  Processes ranks(kRanks, [](Board& board, int rank) {
    set_environment({{"DLCP_PEER_TIMEOUT", "1.5"}});
    Plugin plugin;
    Rank self(plugin.net());
    Link link(plugin.net());
    if (!join_ring(plugin.net(), self, board, rank, kRanks, link)) return 1;
    const ResultCode code = circulate(plugin.net(), link, 1 << 20, board.numbers[rank]);
    return code == ResultCode::kRemoteError ? 0 : 10 + static_cast<int>(code);
  });
  REQUIRE(within(20s, [&] {
    usleep(1000);
    return ranks.board().numbers[0].load() > 5;
  }));
  ranks.kill_rank(2);
  const auto killed = std::chrono::steady_clock::now();
  for (int rank : {0, 1, 3, 4}) {
    INFO(rank);
    CHECK(ranks.wait_for(rank, 10s) == 0);
  }
  CHECK(std::chrono::steady_clock::now() - killed < 5s);
}

TEST_CASE("a receiver that leaves right after completion never fails the sender") {
  for (int round = 0; round < 100; ++round) {
    INFO(round);
    Processes ranks(2, [&](Board& board, int rank) {
      set_environment({{"DLCP_FAULT", "drop=0.2,seed=" + std::to_string(2 * round + rank)},
                       {"DLCP_PEER_TIMEOUT", "5"}});
      Plugin plugin;
      const NetV12& net = plugin.net();
      Rank self(net);
      Link link(net);
      if (!join_ring(net, self, board, rank, 2, link)) return 1;
      constexpr std::size_t kBytes = 40'000;
      Mover mover(net, rank == 0 ? link.send : link.recv, rank == 0, kBytes);
      void* request = mover.post(0, kBytes);
      return request != nullptr && finish(net, request) == ResultCode::kSuccess ? 0 : 2;
    });
    REQUIRE(ranks.wait_for(1, 20s) == 0);
    REQUIRE(ranks.wait_for(0, 20s) == 0);
  }
}

TEST_CASE(
    "ranks with different MTUs, paths, offloads and checksums work together, encrypted or not") {
  const char* const encrypt = GENERATE("off", "aes-gcm");
  Processes ranks(2, [&](Board& board, int rank) {
    set_environment(rank == 0 ? Settings{{"DLCP_MTU", "9000"}, {"DLCP_PATHS", "3"}}
                              : Settings{{"DLCP_MTU", "1500"},
                                         {"DLCP_GSO", "0"},
                                         {"DLCP_GRO", "0"},
                                         {"DLCP_CHECKSUM", "full"}});
    setenv("DLCP_ENCRYPT", encrypt, 1);
    Plugin plugin;
    const NetV12& net = plugin.net();
    Rank self(net);
    Link link(net);
    if (!join_ring(net, self, board, rank, 2, link)) return 1;
    constexpr std::size_t kBytes = 1 << 20;
    Mover sender(net, link.send, true, kBytes);
    Mover receiver(net, link.recv, false, kBytes);
    Mover expected(net, link.recv, false, kBytes);
    fill_random(sender.memory(), static_cast<std::uint64_t>(rank));
    fill_random(expected.memory(), static_cast<std::uint64_t>(1 - rank));
    void* receive = receiver.post(0, kBytes);
    void* send = sender.post(0, kBytes);
    if (finish(net, receive) != ResultCode::kSuccess || finish(net, send) != ResultCode::kSuccess)
      return 2;
    return receiver.memory() == expected.memory() ? 0 : 3;
  });
  CHECK(ranks.wait_for(0) == 0);
  CHECK(ranks.wait_for(1) == 0);
}

TEST_CASE(
    "ranks with incompatible settings fail on both sides, with the same message, within a second") {
  struct Case {
    Settings listening;
    Settings connecting;
    std::string words;  // in the listening rank's message
  };
  const Settings budget{{"DLCP_LOSS_BUDGET", "0.01"}, {"DLCP_LOSS_SCOPE", "data-parallel"}};
  const auto with = [&](const char* name, const char* value) {
    Settings settings = budget;
    settings.emplace_back(name, value);
    return settings;
  };
  const std::string secret = "/tmp/dlcp-secret-" + std::to_string(getpid());
  std::ofstream(secret) << "00112233445566778899aabbccddeeff\n";
  const std::string order = "/tmp/dlcp-order-" + std::to_string(getpid());
  std::ofstream(order) << R"({"version": 1, "hosts": [{"name": "a", "addresses": ["127.0.0.1"]}],
                              "fabric": {"name": "fabric", "round_trip_us": 30}})";
  const Case each = GENERATE_COPY(
      Case{budget, {}, "the peer's rank may lose 0%"},
      Case{{}, budget, "but this rank may lose 0%"},
      Case{with("DLCP_LOSS_MIN_BYTES", "1M"), budget,
           "but this rank may lose 1% in messages of 1048576"},
      Case{budget, with("DLCP_TUNER_MARGIN", "0.5"), "(tuner margin 0.5)"},
      Case{{}, {{"DLCP_SECRET_FILE", secret}}, "has a DLCP_SECRET_FILE, but this rank has none"},
      Case{{{"DLCP_SECRET_FILE", secret}},
           {},
           "this rank has a DLCP_SECRET_FILE, but the peer's rank has none"},
      Case{{}, {{"DLCP_ORDER", order}}, "reports a latency of 15 us to NCCL, but this rank 0 us"},
      Case{{}, {{"DLCP_ENCRYPT", "aes-gcm"}}, "the peer's rank encrypts payloads"},
      Case{{{"DLCP_ENCRYPT", "aes-gcm"}}, {}, "this rank encrypts payloads"});
  Processes ranks(2, [&](Board& board, int rank) {
    set_environment(rank == 0 ? each.listening : each.connecting);
    setenv("DLCP_PEER_TIMEOUT", "0.5", 1);
    Plugin plugin;
    const NetV12& net = plugin.net();
    Rank self(net);
    void* comm = nullptr;
    if (rank == 1) {
      board.meet(2);
      return static_cast<int>(
          net.connect(self.context(), 0, board.handles[0][0].data(), &comm, nullptr));
    }
    void* listener = nullptr;
    if (net.listen(self.context(), 0, board.handles[0][0].data(), &listener) !=
        ResultCode::kSuccess) {
      return 100;
    }
    take_log();
    board.meet(
        2);  // the other side connects from here on, and may be refused before this side accepts
    ResultCode code{};
    within(5s, [&] {
      code = net.accept(listener, &comm, nullptr);
      return code != ResultCode::kSuccess || comm != nullptr;
    });
    const auto log = await_log(1);
    net.closeListen(listener);
    return log.size() == 1 && log[0].find(each.words) != std::string::npos ? static_cast<int>(code)
                                                                           : 101;
  });
  INFO(each.words);
  CHECK(ranks.wait_for(1) == static_cast<int>(ResultCode::kInvalidUsage));
  CHECK(ranks.wait_for(0) == static_cast<int>(ResultCode::kInvalidUsage));
  unlink(secret.c_str());
  unlink(order.c_str());
}

TEST_CASE("a wrong setting on one rank of four fails there at listen, with one line on stderr") {
  char path[] = "/tmp/dlcp-stderr-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  Processes ranks(4, [&](Board& board, int rank) {
    set_environment(rank == 2 ? Settings{{"DLCP_PATHS", "many"}} : Settings{});
    if (rank == 2) dup2(file, STDERR_FILENO);
    Plugin plugin;
    const NetV12& net = plugin.net();
    Rank self(net);
    int devices = 0;
    dlcp::nccl::NetPropertiesV12 properties;
    if (net.devices(&devices) != ResultCode::kSuccess || devices != 1 ||
        net.getProperties(0, &properties) != ResultCode::kSuccess || properties.speed <= 0 ||
        properties.maxP2pBytes == 0 || properties.name == nullptr)
      return 1;
    void* listener = nullptr;
    Handle handle;
    ResultCode code{};
    for (int i = 0; i < 2; ++i) {  // logged once, however often listen is called
      code = net.listen(self.context(), 0, handle.data(), &listener);
      if (listener != nullptr) net.closeListen(listener);
    }
    board.meet(4);
    return static_cast<int>(code) + (listener == nullptr ? 100 : 0);
  });
  CHECK(ranks.wait_for(2) == 100 + static_cast<int>(ResultCode::kInvalidUsage));
  for (int rank : {0, 1, 3})
    CHECK(ranks.wait_for(rank) == 0);
  CHECK(text_of(path) ==
        "NET/DLCP : DLCP_PATHS = 'many' (environment) is not valid; give 1..256\n");
  close(file);
  unlink(path);
}

TEST_CASE(
    "without contexts, a connection that NCCL no longer opens ends alone, and is released later") {
  const std::string stats = "/tmp/dlcp-stats-" + std::to_string(getpid());
  Processes ranks(2, [&](Board& board, int rank) {
    set_environment({{"DLCP_PEER_TIMEOUT", "1"}, {"DLCP_STATS_FILE", stats}});
    Plugin plugin;
    const auto& net =
        *static_cast<const dlcp::nccl::NetV8*>(plugin.symbol(dlcp::nccl::kNetSymbolV8));
    net.init(logger);
    Link link(plugin.net());
    if (rank == 1) {
      net.listen(0, board.handles[1][0].data(), &link.listener);
      board.arrived = 1;
      raise(SIGSTOP);  // this rank hangs
    }
    while (board.arrived == 0)
      usleep(1000);
    usleep(100'000);
    for (int i = 0; i < 20; ++i) {  // then its communicator is aborted, without a call to DLCP
      if (net.connect(0, board.handles[1][0].data(), &link.send, nullptr) != ResultCode::kSuccess)
        return 1;
      usleep(1000);
    }
    if (link.send != nullptr) return 2;
    Link other = link_to_itself(plugin, net);
    for (const auto end = std::chrono::steady_clock::now() + 2500ms;
         std::chrono::steady_clock::now() < end; usleep(10'000))
      exchange(other, 10'000, 1);
    other.close();  // the last object that NCCL has
    return 0;
  });
  CHECK(ranks.wait_for(0) == 0);
  CHECK_THAT(text_of(stats.c_str()), Contains("packets_sent"));  // written by the last engine's end
  unlink(stats.c_str());
}

TEST_CASE("without contexts, a peer that never answers fails connect, and then everything else") {
  Processes ranks(2, [&](Board& board, int rank) {
    set_environment({{"DLCP_PEER_TIMEOUT", "0.5"}});
    Plugin plugin;
    const auto& net =
        *static_cast<const dlcp::nccl::NetV8*>(plugin.symbol(dlcp::nccl::kNetSymbolV8));
    net.init(logger);
    Link link(plugin.net());
    if (rank == 1) {
      net.listen(0, board.handles[1][0].data(), &link.listener);
      board.arrived = 1;
      raise(SIGSTOP);
    }
    while (board.arrived == 0)
      usleep(1000);
    usleep(100'000);
    Link other = link_to_itself(plugin, net);
    take_log();
    ResultCode code{};
    within(5s, [&] {
      code = net.connect(0, board.handles[1][0].data(), &link.send, nullptr);
      return code != ResultCode::kSuccess;
    });
    if (code != ResultCode::kRemoteError || take_log().size() != 1) return 1;
    void* request = nullptr;
    char byte = 0;
    return plugin.net().isend(other.send, &byte, 1, 0, nullptr, nullptr, &request) ==
                   ResultCode::kRemoteError
               ? 0
               : 2;
  });
  CHECK(ranks.wait_for(0) == 0);
}

TEST_CASE("if a rank has no memory for direct exchange, no rank uses it, and all know the reason") {
  if (kSanitized) return;  // sanitizers need the address space
  Processes ranks(2, [](Board& board, int rank) {
    set_environment({{"DLCP_COLLNET_MEMORY", "4G"}, {"DLCP_COLLNET_TIMEOUT", "5"}});
    Plugin plugin;
    const auto& table =
        *static_cast<const dlcp::nccl::CollNetV12*>(plugin.symbol(dlcp::nccl::kCollNetSymbolV12));
    void *context = nullptr, *listening = nullptr, *group = nullptr;
    table.init(&context, 5, logger);
    table.listen(context, 0, board.handles[rank][0].data(), &listening);
    board.meet(2);
    if (rank == 1) {
      const rlimit scarce{rlim_t{2} << 30, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &scarce);
    }
    take_log();
    void* handles[] = {board.handles[0][0].data(), board.handles[1][0].data()};
    const ResultCode code = table.connect(handles, 2, rank, listening, &group);
    if (code == ResultCode::kSuccess || group != nullptr) return 1;
    const std::string log = joined_log();
    table.finalize(context);
    return log.find("DLCP_COLLNET_MEMORY") != std::string::npos ? 0 : 2;
  });
  CHECK(ranks.wait_for(0) == 0);
  CHECK(ranks.wait_for(1) == 0);
}

TEST_CASE("an interface that does not exist is an error, and no other network is used") {
  Processes ranks(1, [](Board&, int) {
    set_environment({{"DLCP_IFNAME", "=nosuch0"}});
    close(STDERR_FILENO);
    Plugin plugin;
    Rank self(plugin.net());
    int devices = 0;
    void* listener = nullptr;
    Handle handle;
    plugin.net().devices(&devices);
    const ResultCode code = plugin.net().listen(self.context(), 0, handle.data(), &listener);
    return devices == 1 && listener == nullptr && code == ResultCode::kInvalidUsage ? 0 : 1;
  });
  CHECK(ranks.wait_for(0) == 0);
}
