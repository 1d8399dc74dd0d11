// One device with several lanes, as NCCL uses it: a connection's messages are distributed over
// them.
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "catch.h"
#include "nccl/exchange.h"

using namespace dlcp;
using namespace dlcp::test;
using nccl::NetV12;
using nccl::ResultCode;
using namespace std::chrono_literals;

namespace {

// An interface with an IPv4 address besides loopback; empty if there is none.
std::string another_interface() {
  ifaddrs* list = nullptr;
  REQUIRE(getifaddrs(&list) == 0);
  std::string name;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET &&
        (entry->ifa_flags & (IFF_LOOPBACK | IFF_RUNNING)) == IFF_RUNNING)
      name = std::string(entry->ifa_name).substr(0, std::string(entry->ifa_name).find(':'));
  freeifaddrs(list);
  return name;
}

long opened_lanes(const std::vector<std::string>& log) {
  return std::ranges::count_if(
      log,
      [](const std::string& line) { return line.find("receive capacity") != std::string::npos; });
}

}  // namespace

TEST_CASE(
    "connections are assigned to a device's lanes in turn, and every byte arrives on each lane") {
  set_environment({{"DLCP_LANES", "3"}, {"DLCP_FAULT", "drop=0.01"}});
  Plugin plugin;
  take_log();
  Rank a(plugin.net());
  Rank b(plugin.net());
  std::vector<Link> links;
  for (int i = 0; i < 5; ++i)
    links.push_back(make_link(a, b));
  CHECK(opened_lanes(take_log()) == 3);
  for (unsigned round = 0; round < 3; ++round)
    for (const Link& link : links)
      exchange(link, 300'000, round);
  links.pop_back();  // the others are not affected
  exchange(links.front(), 300'000, 7);
}

TEST_CASE("a listener opens one lane of each other device; the rest follow when NCCL uses it") {
  const std::string second = another_interface();
  if (second.empty()) return;  // a host with loopback only
  set_environment({{"DLCP_LANES", "4"}, {"DLCP_IFNAME", "=lo," + second}});
  Plugin plugin;
  const NetV12& net = plugin.net();
  Rank rank(net);
  int devices = 0;
  REQUIRE(net.devices(&devices) == ResultCode::kSuccess);
  REQUIRE(devices == 2);
  std::array<void*, 2> listeners{};
  const auto opened_by_listening_on = [&](int device) {
    take_log();
    Handle handle{};
    REQUIRE(net.listen(rank.context(), device, handle.data(),
                       &listeners[static_cast<std::size_t>(device)]) == ResultCode::kSuccess);
    return opened_lanes(take_log());
  };
  CHECK(opened_by_listening_on(0) == 4 + 1);
  CHECK(opened_by_listening_on(1) == 3);
  for (void* listener : listeners)
    net.closeListen(listener);
}

TEST_CASE("outstanding messages of one connection use all lanes, and complete one by one") {
  set_environment({{"DLCP_LANES", "3"}, {"DLCP_BUNDLE", "1"}});
  TwoRanks two;
  const NetV12& net = two.net;
  constexpr std::size_t kBytes = 70'000;
  constexpr std::size_t kCount = 32;
  Mover sender(net, two.link.send, true, kBytes * kCount);
  Mover receiver(net, two.link.recv, false, kBytes * kCount);
  fill_random(sender.memory(), 5);
  std::vector<void*> sending, receiving;
  for (std::size_t i = 0; i < kCount; ++i) {
    receiving.push_back(receiver.post(i * kBytes, kBytes));
    sending.push_back(sender.post(i * kBytes, kBytes - i));
  }
  for (std::size_t i = kCount; i-- > 0;) {
    int size = 0;
    CHECK(finish(net, receiving[i], &size) == ResultCode::kSuccess);
    CHECK(size == static_cast<int>(kBytes - i));
    CHECK(finish(net, sending[i]) == ResultCode::kSuccess);
    const auto begin = static_cast<std::ptrdiff_t>(i * kBytes);
    CHECK(std::equal(sender.memory().begin() + begin, sender.memory().begin() + begin + size,
                     receiver.memory().begin() + begin));
  }
  // A failure of one lane's receives ends the whole connection.
  void* waiting = receiver.post(0, kBytes);
  receiver.deregister();
  CHECK(finish(net, waiting, nullptr, 3s) != ResultCode::kSuccess);
  ResultCode code = ResultCode::kSuccess;
  CHECK(within(3s, [&] {
    sender.try_post(0, kBytes, &code);
    return code != ResultCode::kSuccess;
  }));
}

TEST_CASE("lanes leave half of the limit on open files to the application, and one line says so") {
  set_environment({{"DLCP_LANES", "16"}, {"DLCP_PATHS", "16"}});
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit scarce = before;
  scarce.rlim_cur = 256;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &scarce) == 0);
  {
    Plugin plugin;
    take_log();
    Rank a(plugin.net());
    Rank b(plugin.net());
    Link first = make_link(a, b);
    Link second = make_link(a, b);
    const std::string said = joined_log();
    CHECK_THAT(said, Contains("lanes over UDP instead of 16: ") && Contains(" of 256 files are ") &&
                         Contains("DLCP_LANES"));
    CHECK(said.find("instead of 16") == said.rfind("instead of 16"));
    std::vector<int> files;  // of the application
    while (files.size() < 60)
      files.push_back(open("/dev/null", O_RDONLY));
    CHECK(std::ranges::count(files, -1) == 0);
    exchange(first, 100'000, 1);
    exchange(second, 100'000, 2);
    for (const int file : files)
      close(file);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}
