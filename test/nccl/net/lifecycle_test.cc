// Start and end within one process: abort, unload, failures and which connections they affect,
// every version of the interface, counters, the fork guard, and the cost of an idle connection.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "catch.h"
#include "cli/launch/clock.h"
#include "nccl/abi/net/net_v6.h"
#include "nccl/abi/net/net_v8.h"
#include "nccl/exchange.h"
#include "nccl/plugin.h"
#include "util/system/host_name.h"

namespace {

using namespace dlcp::test;
using namespace std::chrono_literals;
namespace nccl = dlcp::nccl;

void pause(std::chrono::milliseconds span) {
  const timespec time{span.count() / 1000, span.count() % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

// Sends 300,000 bytes through the interfaces without contexts, over a connection of this thread.
void exchange_without_contexts(const Plugin& plugin) {
  const auto& v6 = *static_cast<const nccl::NetV6*>(plugin.symbol(nccl::kNetSymbolV6));
  const auto& v8 = *static_cast<const nccl::NetV8*>(plugin.symbol(nccl::kNetSymbolV8));
  REQUIRE(v6.init(logger) == ResultCode::kSuccess);
  REQUIRE(v8.init(logger) == ResultCode::kSuccess);
  Handle handle;
  void* listener = nullptr;
  void* send = nullptr;
  void* recv = nullptr;
  REQUIRE(v8.listen(0, handle.data(), &listener) == ResultCode::kSuccess);
  CHECK(within(10s, [&] {
    if (send == nullptr) REQUIRE(v6.connect(0, handle.data(), &send) == ResultCode::kSuccess);
    if (recv == nullptr) REQUIRE(v8.accept(listener, &recv, nullptr) == ResultCode::kSuccess);
    return send != nullptr && recv != nullptr;
  }));
  std::vector<std::byte> out(300'000), in(300'000);
  fill_random(out, 7);
  void* send_handle = nullptr;
  void* recv_handle = nullptr;
  REQUIRE(v6.regMr(send, out.data(), 300'000, nccl::kPtrHost, &send_handle) ==
          ResultCode::kSuccess);
  REQUIRE(v8.regMr(recv, in.data(), in.size(), nccl::kPtrHost, &recv_handle) ==
          ResultCode::kSuccess);
  void* sending = nullptr;
  void* receiving = nullptr;
  void* data = in.data();
  int size = 300'000;
  int tag = 0;
  REQUIRE(v8.irecv(recv, 1, &data, &size, &tag, &recv_handle, &receiving) == ResultCode::kSuccess);
  REQUIRE(v6.isend(send, out.data(), 300'000, 0, send_handle, &sending) == ResultCode::kSuccess);
  REQUIRE((receiving != nullptr && sending != nullptr));
  CHECK(finish(plugin.net(), receiving) == ResultCode::kSuccess);
  CHECK(finish(plugin.net(), sending) == ResultCode::kSuccess);
  CHECK(in == out);
  v6.deregMr(send, send_handle);
  v8.deregMr(recv, recv_handle);
  v6.closeSend(send);
  v8.closeRecv(recv);
  v8.closeListen(listener);
}

}  // namespace

TEST_CASE("an abort with 32 x 1 MiB in flight frees the buffers at once and unloads cleanly") {
  constexpr std::size_t kBytes = 1 << 20;
  constexpr std::size_t kCount = 32;
  const std::string lanes = GENERATE("1", "3");
  for (int polls : {0, 1, 50}) {
    set_environment({{"DLCP_LANES", lanes}, {"DLCP_BUNDLE", "1"}});
    auto plugin = std::make_unique<Plugin>();
    const NetV12& net = plugin->net();
    auto a = std::make_unique<Rank>(net);
    auto b = std::make_unique<Rank>(net);
    Link link = make_link(*a, *b);
    {
      Mover sender(net, link.send, true, kBytes * kCount);
      Mover receiver(net, link.recv, false, kBytes * kCount);
      std::vector<void*> requests;
      for (std::size_t i = 0; i < kCount; ++i) {
        requests.push_back(receiver.try_post(i * kBytes, kBytes));
        requests.push_back(sender.try_post(i * kBytes, kBytes));
      }
      int done = 0;
      for (int i = 0; i < polls; ++i) {
        net.test(requests[0], &done, nullptr);
        done = 0;
      }
      sender.deregister();  // then the buffers are freed, and only then the connections closed
      receiver.deregister();
    }
    const auto begin = std::chrono::steady_clock::now();
    link.close();
    a->finalize();
    b->finalize();
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    plugin.reset();
  }
}

TEST_CASE("one failed connection fails all connections of its communicator and none of another") {
  const std::string lanes = GENERATE("1", "3");
  set_environment({{"DLCP_PEER_TIMEOUT", "5"}, {"DLCP_LANES", lanes}, {"DLCP_BUNDLE", "1"}});
  Plugin plugin;
  const NetV12& net = plugin.net();
  Rank a(net);
  Rank b(net);
  Rank c(net);
  Rank bystander(net);
  Rank other(net);
  Link ab = make_link(a, b);
  Link bc = make_link(b, c);
  Link apart = make_link(bystander, other);
  Mover waits(net, bc.recv, false, 100);
  void* waiting = waits.post(0, 100);
  Mover fails(net, ab.recv, false, 100);
  void* failing = fails.post(0, 100);
  take_log();
  net.closeSend(std::exchange(ab.send, nullptr));
  CHECK(finish(net, failing, nullptr, 3s) == ResultCode::kRemoteError);
  CHECK(finish(net, waiting, nullptr, 3s) == ResultCode::kRemoteError);
  CHECK_THAT(joined_log(), Contains("WARN") && Contains("closed the connection"));
  exchange(apart, 10'000, 3);
}

TEST_CASE(
    "without contexts, a communicator's failure does not end one that another thread serves") {
  set_environment({{"DLCP_PEER_TIMEOUT", "5"}});
  Plugin plugin;
  const auto& v8 = *static_cast<const nccl::NetV8*>(plugin.symbol(nccl::kNetSymbolV8));
  REQUIRE(v8.init(logger) == ResultCode::kSuccess);
  struct Connection {
    void* listener = nullptr;
    void* send = nullptr;
    void* recv = nullptr;
  };
  // One thread for each end of a communicator, as in NCCL before 2.28. They end with it.
  const auto serve = [&](Connection& made, std::atomic<bool>& ready, std::atomic<bool>& over) {
    Handle handle;
    v8.listen(0, handle.data(), &made.listener);
    within(10s, [&] {
      if (made.send == nullptr) v8.connect(0, handle.data(), &made.send, nullptr);
      if (made.recv == nullptr) v8.accept(made.listener, &made.recv, nullptr);
      return made.send != nullptr && made.recv != nullptr;
    });
    ready = true;
    while (!over)
      std::this_thread::sleep_for(1ms);
    v8.closeRecv(made.recv);
    if (made.send != nullptr) v8.closeSend(made.send);
    v8.closeListen(made.listener);
  };
  Connection one, other;
  std::atomic<bool> one_ready{false}, other_ready{false}, one_over{false}, other_over{false};
  std::thread first([&] { serve(one, one_ready, one_over); });
  std::thread second([&] { serve(other, other_ready, other_over); });
  const bool ready = within(20s, [&] { return one_ready && other_ready; });
  const auto receive = [&](const Connection& of, std::vector<std::byte>& in) {
    void* data = in.data();
    int size = static_cast<int>(in.size());
    int tag = 0;
    void* registration = nullptr;
    void* request = nullptr;
    v8.irecv(of.recv, 1, &data, &size, &tag, &registration, &request);
    return request;
  };
  std::vector<std::byte> a(1000), b(1000), out(1000);
  fill_random(out, 3);
  void* const failing = receive(one, a);
  void* const working = receive(other, b);
  v8.closeSend(std::exchange(one.send, nullptr));
  CHECK(finish(plugin.net(), failing, nullptr, 3s) == ResultCode::kRemoteError);
  one_over = true;
  first.join();
  void* sending = nullptr;
  v8.isend(other.send, out.data(), 1000, 0, nullptr, &sending);
  CHECK(finish(plugin.net(), working) == ResultCode::kSuccess);
  CHECK(finish(plugin.net(), sending) == ResultCode::kSuccess);
  CHECK(b == out);
  other_over = true;
  second.join();
  CHECK(ready);
}

TEST_CASE("the plugin can be unloaded and loaded again while another communicator lives") {
  set_environment();
  Plugin keeper;
  Rank a(keeper.net());
  Rank b(keeper.net());
  Link link = make_link(a, b);
  for (int round = 0; round < 5; ++round) {
    Plugin again;
    Rank c(again.net());
    Rank d(again.net());
    Link second = make_link(c, d);
    exchange(second, 50'000, 100u + static_cast<unsigned>(round));
    exchange(link, 50'000, 200u + static_cast<unsigned>(round));
  }
  exchange(link, 50'000, 300);
}

TEST_CASE("an idle connection uses less than a hundredth of a core") {
  set_environment();
  TwoRanks two;
  exchange(two.link, 100'000, 1);
  pause(100ms);
  const double before = dlcp::cli::cpu_time().total();
  pause(1000ms);
  CHECK(dlcp::cli::cpu_time().total() - before < 0.010);
}

TEST_CASE("counters are written as JSON when the last communicator ends") {
  char folder[] = "/tmp/dlcp-stats-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string prefix = std::string(folder) + "/";
  const std::string path = prefix + dlcp::host_name() + "." + std::to_string(getpid());
  set_environment({{"DLCP_STATS_FILE", prefix + "%h.%p"}, {"DLCP_FAULT", "drop=0.05"}});
  {
    TwoRanks two;
    exchange(two.link, 1 << 20, 1);
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  rmdir(folder);
  CHECK_THAT(text.str(), Contains("\"packets_sent\": ") && Contains("\"mean_burst\": ") &&
                             Contains("\"udp\": {") && Contains("\"tx_syscalls\": "));
  CHECK_THAT(text.str(), !Contains("\"packets_retransmitted\": 0,"));
}

TEST_CASE("counters that cannot be written are reported") {
  set_environment({{"DLCP_STATS_FILE", "/nonexistent/stats.json"}});
  take_log();
  { const TwoRanks two; }
  CHECK_THAT(joined_log(), Contains("WARN") && Contains("DLCP_STATS_FILE") &&
                               Contains("No such file or directory"));
}

TEST_CASE("a failure writes a file with the last packets, headers only, and logs its name") {
  char folder[] = "/tmp/dlcp-trace-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string written = std::string(folder) + "/" + std::to_string(getpid()) + "-1";
  set_environment({{"DLCP_TRACE", std::string(folder) + "/%p"}, {"DLCP_MTU", "1500"}});
  {
    TwoRanks two;
    exchange(two.link, 300'000, 5);
    CHECK_FALSE(std::ifstream(written).good());  // no failure yet
    Mover fails(two.net, two.link.recv, false, 100);
    void* failing = fails.post(0, 100);
    take_log();
    two.net.closeSend(std::exchange(two.link.send, nullptr));
    CHECK(finish(two.net, failing, nullptr, 3s) == ResultCode::kRemoteError);
    CHECK_THAT(joined_log(), Contains("packets of lo are in " + written));
  }
  std::stringstream bytes;
  bytes << std::ifstream(written).rdbuf();
  const std::string capture = bytes.str();
  CHECK(capture.size() > 24 + 400 * (16 + 28 + 44));  // 214 packets, sent and received
  CHECK(capture.substr(0, 4) == "\x4d\x3c\xb2\xa1");
  CHECK_THAT(capture, Contains("the peer closed the connection"));  // the decision, as a note
  // The file has at most a packet's header, or the beginning of a frame.
  for (std::size_t at = 24; at < capture.size();) {
    std::uint32_t kept = 0;
    std::memcpy(&kept, &capture[at + 8], sizeof kept);
    const bool data = capture[at + 16 + 28 + 2] == 1;
    CHECK(kept <= (data ? 28u + 44 : 28u + 96));
    at += 16 + kept;
  }
  unlink(written.c_str());
  rmdir(folder);
}

TEST_CASE("the settings in force are logged once, where NCCL's default filter shows them") {
  set_environment({{"DLCP_PATHS", "4"}});
  take_log();
  TwoRanks two;
  const std::string log = joined_log();
  CHECK_THAT(log, Contains("INFO 17 NET/DLCP : settings in force:"));
  CHECK_THAT(log, Contains("DLCP_PATHS=4 (environment)"));
  CHECK(log.find("settings in force") == log.rfind("settings in force"));
}

TEST_CASE("every call of a forked child returns an error, and its parent continues") {
  set_environment();
  Plugin plugin;
  const NetV12& net = plugin.net();
  Rank a(net);
  Rank b(net);
  Link link = make_link(a, b);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    void* context = nullptr;
    int number = 0;
    void* request = nullptr;
    char byte = 0;
    const bool turned_back =
        net.init(&context, 1, nullptr, logger, nullptr) == ResultCode::kSystemError &&
        net.devices(&number) == ResultCode::kSystemError &&
        net.isend(link.send, &byte, 1, 0, nullptr, nullptr, &request) == ResultCode::kSystemError &&
        net.closeSend(link.send) == ResultCode::kSystemError &&
        net.finalize(a.context()) == ResultCode::kSystemError;
    _exit(turned_back ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  exchange(link, 100'000, 2);
}

TEST_CASE(
    "the interfaces without contexts carry messages and can start again after the last close") {
  set_environment();
  Plugin plugin;
  for (int round = 0; round < 3; ++round)
    exchange_without_contexts(plugin);
}

TEST_CASE("the traffic of a thread's earlier communicator is not reported as that of the next") {
  set_environment();
  const TwoRanks others;  // keep the engine, which counts
  for (int round = 0; round < 2; ++round) {
    take_log();
    exchange_without_contexts(others.plugin);
    CHECK_THAT(joined_log(), Contains("all communicators: sent 0.3 MB, received 0.3 MB"));
  }
}

TEST_CASE("NCCL gets an order file's latency and rate") {
  char path[] = "/tmp/dlcp-order-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  const std::string text =
      R"({"version": 1, "hosts": [{"name": "here", "addresses": ["127.0.0.1"], "gb_per_s": 12.5}],
          "fabric": {"name": "fabric", "round_trip_us": 30}})";
  REQUIRE(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(file);
  set_environment({{"DLCP_ORDER", path}});
  {
    Plugin plugin;
    Rank rank(plugin.net());
    nccl::NetPropertiesV12 newest;
    REQUIRE(plugin.net().getProperties(0, &newest) == ResultCode::kSuccess);
    CHECK(newest.latency == 15);
    CHECK(newest.speed == 12500);
  }
  unlink(path);
  set_environment();
  Plugin plugin;
  Rank rank(plugin.net());
  nccl::NetPropertiesV12 newest;
  REQUIRE(plugin.net().getProperties(0, &newest) == ResultCode::kSuccess);
  CHECK(newest.latency == 0);
}

TEST_CASE("properties are sane in every version") {
  set_environment();
  Plugin plugin;
  Rank rank(plugin.net());
  int devices = 0;
  REQUIRE(plugin.net().devices(&devices) == ResultCode::kSuccess);
  CHECK(devices == 1);
  nccl::NetPropertiesV12 newest;
  REQUIRE(plugin.net().getProperties(0, &newest) == ResultCode::kSuccess);
  CHECK(std::string(newest.name) == "lo");
  CHECK(newest.pciPath == nullptr);
  CHECK(newest.ptrSupport == nccl::kPtrHost);
  CHECK(newest.maxRecvs == 1);
  CHECK(newest.speed > 0);
  CHECK(newest.maxP2pBytes == std::size_t{1} << 30);
  CHECK(newest.railId == -1);
  CHECK(newest.vProps.ndevs == 1);
  nccl::NetPropertiesV6 oldest;
  const auto& v6 = *static_cast<const nccl::NetV6*>(plugin.symbol(nccl::kNetSymbolV6));
  REQUIRE(v6.getProperties(0, &oldest) == ResultCode::kSuccess);
  CHECK(oldest.guid == newest.guid);
  CHECK(oldest.maxComms == newest.maxComms);
  CHECK(plugin.net().getProperties(1, &newest) == ResultCode::kInvalidArgument);
}
