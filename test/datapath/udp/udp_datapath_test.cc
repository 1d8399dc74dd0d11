// The UDP datapath over the kernel's loopback, both families, with and without offloads.
#include "datapath/udp/udp_datapath.h"

#include <poll.h>
#include <sys/resource.h>

#include <set>

#include "catch.h"
#include "udp_traffic.h"

namespace dlcp::datapath::test {
namespace {

bool is_readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

}  // namespace

TEST_CASE("a burst arrives as its single datagrams, marked with its class") {
  const IpFamily family = GENERATE(IpFamily::kV4, IpFamily::kV6);
  UdpOptions options = many_sockets_options(family);
  options.gso = GENERATE(true, false);
  options.gro = GENERATE(true, false);
  INFO("family " << static_cast<int>(family) << " gso " << options.gso << " gro " << options.gro);
  const auto sender = open_datapath(options);
  const auto receiver = open_datapath(options);
  if (!sender || !receiver) return;
  Packets packets(receiver->local_address());
  for (int i = 0; i < 39; ++i)
    packets.add(1400, 1, TrafficClass::kUrgentProtected);
  packets.add(777, 1, TrafficClass::kUrgentProtected);
  REQUIRE(sender->send(packets.all()) == 40);

  const auto arrivals = receive_count(*receiver, 40);
  REQUIRE(arrivals.size() == 40);
  const TrafficClassRow& row = row_of(TrafficClass::kUrgentProtected);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    CHECK(arrivals[i].bytes.size() == (i < 39 ? 1400 : 777));
    CHECK(has_pattern(arrivals[i].bytes, i));
    CHECK(arrivals[i].packet.dscp == row.dscp);
    CHECK(arrivals[i].packet.ecn == row.ecn);
  }
  CHECK(sender->counters().tx_packets == 40);
  CHECK(sender->counters().tx_bursts == (options.gso ? 1 : 0));
  if (options.gso && options.gro)
    CHECK(receiver->counters().rx_buffers == 1);
  else
    CHECK(receiver->counters().rx_buffers == 40);
}

TEST_CASE("each class keeps its own mark when classes alternate") {
  const IpFamily family = GENERATE(IpFamily::kV4, IpFamily::kV6);
  UdpOptions options = loopback_options(family);
  options.tos[static_cast<std::size_t>(TrafficClass::kControl)] = 0xb9;  // an override: EF, ECT(1)
  const auto sender = open_datapath(options);
  const auto receiver = open_datapath(options);
  if (!sender || !receiver) return;
  Packets packets(receiver->local_address());
  for (std::size_t i = 0; i < 2 * kTrafficClassCount; ++i)
    packets.add(600, 0, static_cast<TrafficClass>(i % kTrafficClassCount));
  REQUIRE(sender->send(packets.all()) == packets.all().size());
  const auto arrivals = receive_count(*receiver, packets.all().size());
  REQUIRE(arrivals.size() == packets.all().size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const auto& packet = arrivals[i].packet;
    const unsigned tos = packet.dscp << 2 | static_cast<unsigned>(packet.ecn);
    CHECK(has_pattern(arrivals[i].bytes, i));
    CHECK(tos == options.tos[i % kTrafficClassCount]);
  }
}

TEST_CASE("packets without marks leave beside packets of their class that have them") {
  const IpFamily family = GENERATE(IpFamily::kV4, IpFamily::kV6);
  const UdpOptions options = loopback_options(family);
  const auto sender = open_datapath(options);
  const auto receiver = open_datapath(options);
  if (!sender || !receiver) return;
  CHECK(sender->limits().can_unmark);
  Packets packets(receiver->local_address());
  for (std::size_t i = 0; i < 6; ++i)
    packets.add(600, 0, TrafficClass::kExact);
  std::vector<wire::TxPacket> all(packets.all().begin(), packets.all().end());
  for (std::size_t i = 2; i < 4; ++i)
    all[i].unmarked = true;
  REQUIRE(sender->send(all) == all.size());
  const auto arrivals = receive_count(*receiver, all.size());
  REQUIRE(arrivals.size() == all.size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    CHECK(has_pattern(arrivals[i].bytes, i));
    CHECK(arrivals[i].packet.unmarked() == (i == 2 || i == 3));
  }
}

TEST_CASE("path i leaves from socket i and arrives at the peer's port i mod n") {
  UdpOptions options = many_sockets_options();
  options.paths = 40;
  const auto sender = open_datapath(options);
  REQUIRE(sender);
  CHECK(sender->address().locators().size() == 16);
  // Each port of the peer is that of another datapath, which shows where a packet arrives.
  options.paths = 1;
  std::vector<std::unique_ptr<UdpDatapath>> receivers;
  DeviceAddress peer;
  peer.ip = options.local_ip;
  for (std::size_t port = 0; port < 3; ++port) {
    REQUIRE(receivers.emplace_back(open_datapath(options)));
    peer.add(LocatorKind::kUdpPort, receivers.back()->address().locators()[0].value);
  }
  std::set<std::uint16_t> ports;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto path = static_cast<wire::PathIndex>(i);
    CHECK(sender->port_of(path) >= 49152);
    ports.insert(sender->port_of(path));
    Packets packets(encode(peer));
    packets.add(100, path);
    REQUIRE(sender->send(packets.all()) == 1);
    CHECK(receive_count(*receivers[i % 3], 1).size() == 1);
  }
  CHECK(ports.size() == 40);
}

TEST_CASE("a receiver with enough buffer receives all paths on one socket, in sending order") {
  UdpOptions options = loopback_options();
  options.paths = 16;
  const auto sender = open_datapath(options);
  options.receive_buffer_bytes = 16u << 20;
  const auto receiver = open_datapath(options);
  REQUIRE(sender);
  REQUIRE(receiver);
  if (receiver->address().locators().size() != 1) {
    WARN("skipped: net.core.rmem_max is too small here, and may not be passed");
    return;
  }
  Packets packets(receiver->local_address());
  for (int i = 0; i < 64; ++i)
    packets.add(100 + static_cast<std::size_t>(i), static_cast<wire::PathIndex>(i * 5 % 16));
  REQUIRE(sender->send(packets.all()) == 64);
  const auto arrivals = receive_count(*receiver, 64);
  REQUIRE(arrivals.size() == 64);
  for (std::size_t i = 0; i < 64; ++i)
    CHECK(arrivals[i].bytes.size() == 100 + i);
}

TEST_CASE("equal seeds choose equal ports, and other ports if those are in use") {
  UdpOptions options = loopback_options();
  options.seed = 99;
  std::uint16_t first = 0;
  {
    const auto datapath = open_datapath(options);
    REQUIRE(datapath);
    first = datapath->port_of(0);
  }
  const auto datapath = open_datapath(options);
  REQUIRE(datapath);
  CHECK(datapath->port_of(0) == first);
  const auto other = open_datapath(options);
  REQUIRE(other);
  CHECK(other->port_of(0) != first);
}

TEST_CASE("one byte and the largest datagram both arrive") {
  const IpFamily family = GENERATE(IpFamily::kV4, IpFamily::kV6);
  const auto sender = open_datapath(loopback_options(family));
  const auto receiver = open_datapath(loopback_options(family));
  if (!sender || !receiver) return;
  const std::size_t largest = sender->limits().datagram_bytes_max;
  CHECK(largest == (family == IpFamily::kV4 ? 65507 : 65488));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, largest}) {
    Packets packets(receiver->local_address());
    packets.add(bytes);
    REQUIRE(sender->send(packets.all()) == 1);
    const auto arrivals = receive_count(*receiver, 1);
    REQUIRE(arrivals.size() == 1);
    CHECK(arrivals[0].bytes.size() == bytes);
    CHECK(has_pattern(arrivals[0].bytes, 0));
  }
}

TEST_CASE("a short output span gets the rest of a merged buffer later, without a system call") {
  const auto [sender, receiver] = open_pair();
  Packets packets(receiver->local_address());
  for (int i = 0; i < 20; ++i)
    packets.add(1000);
  REQUIRE(sender->send(packets.all()) == 20);
  auto arrivals = receive_count(*receiver, 1, 3);
  REQUIRE(arrivals.size() == 3);
  const std::uint64_t syscalls = receiver->counters().rx_syscalls;
  for (int call = 0; call < 5; ++call) {
    const auto more = receive_count(*receiver, 1, 3);
    arrivals.insert(arrivals.end(), more.begin(), more.end());
  }
  CHECK(arrivals.size() == 18);
  CHECK(receiver->counters().rx_syscalls == syscalls);
  const auto last = receive_count(*receiver, 2, 3);
  arrivals.insert(arrivals.end(), last.begin(), last.end());
  REQUIRE(arrivals.size() == 20);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(has_pattern(arrivals[i].bytes, i));
}

TEST_CASE("no socket starves while others stay full") {
  UdpOptions options = many_sockets_options();
  options.paths = 8;
  const auto [sender, receiver] = open_pair(options);
  Packets packets(receiver->local_address());
  for (int round = 0; round < 20; ++round)
    for (wire::PathIndex path = 0; path < 8; ++path)
      packets.add(200u + path, path);
  REQUIRE(sender->send(packets.all()) == 160);
  std::set<std::size_t> seen;
  std::vector<wire::RxPacket> out(2);
  for (int call = 0; call < 8; ++call) {
    const std::size_t got = receiver->receive(steady_now(), out);
    for (std::size_t i = 0; i < got; ++i)
      seen.insert(out[i].bytes.size());
  }
  CHECK(seen.size() == 8);
}

TEST_CASE("a packet on another path is received within four polls while one path is busy") {
  const auto [sender, receiver] = open_pair(many_sockets_options());
  for (int round = 0; round < 100; ++round) {
    Packets busy(receiver->local_address());
    busy.add(64, 0);
    for (int i = 0; i < 5; ++i) {
      REQUIRE(sender->send(busy.all()) == 1);
      REQUIRE(receive_count(*receiver, 1).size() == 1);
    }
    Packets other(receiver->local_address());
    other.add(65, 2);
    REQUIRE(sender->send(other.all()) == 1);
    std::vector<wire::RxPacket> out(8);
    int polls = 1;
    while (polls < 100 && receiver->receive(steady_now(), out) == 0)
      ++polls;
    CHECK(polls <= 4);
    CHECK(out[0].bytes.size() == 65);
  }
}

TEST_CASE(
    "the arrival time is the kernel's, converted, and within a second of the caller's clock") {
  const auto [sender, receiver] = open_pair();
  Packets packets(receiver->local_address());
  packets.add(100);
  receive_count(*sender, 0);
  const Time before = steady_now();
  REQUIRE(sender->send(packets.all()) == 1);
  const Time after = steady_now();
  std::this_thread::sleep_for(50ms);
  const auto arrivals = receive_count(*receiver, 1);
  REQUIRE(arrivals.size() == 1);
  // The clocks are matched to 10 us even when interrupted.
  CHECK(arrivals[0].packet.arrived_at >= before - 100us);
  CHECK(arrivals[0].packet.arrived_at <= after + 100us);

  REQUIRE(sender->send(packets.all()) == 1);
  std::vector<wire::RxPacket> out(1);
  const Time early = time_from_ns(5'000'000'000);  // a clock of another origin
  while (receiver->receive(early, out) == 0) {
  }
  CHECK(out[0].arrived_at <= early + 1s);
  CHECK(out[0].arrived_at >= early - 1s);
}

TEST_CASE("the wait descriptor is readable exactly while packets wait") {
  const auto [sender, receiver] = open_pair();
  CHECK_FALSE(is_readable(receiver->wait_descriptor()));
  Packets packets(receiver->local_address());
  packets.add(100, 2);
  REQUIRE(sender->send(packets.all()) == 1);
  CHECK(is_readable(receiver->wait_descriptor()));
  REQUIRE(receive_count(*receiver, 1).size() == 1);
  CHECK_FALSE(is_readable(receiver->wait_descriptor()));
}

TEST_CASE(
    "packets without a reachable receiver are accepted, counted, and do not affect the others") {
  const auto [sender, receiver] = open_pair();
  Packets good(receiver->local_address());
  good.add(500);
  good.add(500);

  Packets garbage(wire::EndpointAddress{});
  garbage.add(500);
  DeviceAddress nowhere;
  nowhere.ip = parse_ip_address("fd00::1").value();
  nowhere.add(LocatorKind::kUdpPort, 50000);
  Packets other_family(encode(nowhere));
  other_family.add(500);
  nowhere.ip = parse_ip_address("203.0.113.1").value();  // no route from 127.0.0.1
  Packets unroutable(encode(nowhere));
  unroutable.add(500);
  Packets too_big(receiver->local_address());
  too_big.add(65508);
  Packets no_such_path(receiver->local_address());
  no_such_path.add(500, 200);

  std::vector<wire::TxPacket> all;
  for (const Packets* some : {&garbage, &other_family, &unroutable, &too_big, &no_such_path}) {
    all.push_back(good.all()[0]);
    all.push_back(some->all()[0]);
  }
  all.push_back(good.all()[1]);
  REQUIRE(sender->send(all) == all.size());
  const UdpCounters& counters = sender->counters();
  CHECK(counters.tx_error_bad_destination == 3);
  CHECK(counters.tx_error_too_big == 1);
  CHECK(counters.tx_error_unreachable + counters.tx_error_other == 1);
  CHECK(receive_count(*receiver, 6).size() == 6);
}

TEST_CASE("a process that has no descriptor left gets that reason") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  UdpOptions options = loopback_options();
  options.interface_name = "lo";
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto refused = UdpDatapath::open(options);
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message(), Contains("Too many open files") && Contains("ulimit -n"));
}

TEST_CASE("datagrams that are too small for a handshake are rejected, with the least DLCP_MTU") {
  const auto [family, least_mtu] =
      GENERATE(std::pair{IpFamily::kV4, "at least 576"}, std::pair{IpFamily::kV6, "at least 596"});
  UdpOptions options = loopback_options(family);
  options.datagram_bytes_max = kUdpDatagramBytesMin;
  if (!open_datapath(options)) return;  // no IPv6
  --options.datagram_bytes_max;
  const auto refused = UdpDatapath::open(options);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message(), Contains("DLCP_MTU") && Contains(least_mtu));
}

TEST_CASE("a port without a listener does not slow down later packets") {
  const auto sender = open_datapath(loopback_options());
  REQUIRE(sender);
  wire::EndpointAddress gone;
  {
    const auto closed = open_datapath(loopback_options());
    REQUIRE(closed);
    gone = closed->local_address();
  }
  const auto receiver = open_datapath(loopback_options());
  REQUIRE(receiver);
  for (int i = 0; i < 3; ++i) {
    Packets lost(gone);
    lost.add(100);
    CHECK(sender->send(lost.all()) == 1);
    Packets packets(receiver->local_address());
    packets.add(100);
    REQUIRE(sender->send(packets.all()) == 1);
    CHECK(receive_count(*receiver, 1).size() == 1);
  }
}

TEST_CASE("unusable settings are refused with the value and the usable range") {
  UdpOptions options = loopback_options();
  options.paths = 257;
  CHECK_THAT(UdpDatapath::open(options).error().message(), Contains("257") && Contains("1 to 256"));
  options = loopback_options();
  options.datagram_bytes_max = 70000;
  CHECK_THAT(UdpDatapath::open(options).error().message(), Contains("70000") && Contains("65507"));
  options = loopback_options();
  options.local_ip = parse_ip_address("203.0.113.77").value();
  CHECK_THAT(UdpDatapath::open(options).error().message(), Contains("203.0.113.77"));
  options.interface_name = "lo";
  CHECK_THAT(UdpDatapath::open(options).error().message(), Contains("cannot bind"));
  options.interface_name = "no-such-if0";
  CHECK_THAT(UdpDatapath::open(options).error().message(), Contains("no-such-if0"));
}

TEST_CASE("receive capacity grows with the sockets that peers use and never exceeds their budget") {
  UdpOptions options = loopback_options();
  options.datagram_bytes_max = 1472;
  options.receive_buffer_bytes = 100000;  // every kernel allows that: 200000 in truesize
  options.paths = 1;
  const auto one = open_datapath(options);
  options.paths = 16;
  const auto sixteen = open_datapath(options);
  options.paths = 64;
  const auto many = open_datapath(options);
  REQUIRE(one);
  REQUIRE(sixteen);
  REQUIRE(many);
  CHECK(one->limits().receive_capacity_bytes == 65 * 1472);  // 150000 / 2304
  CHECK(sixteen->limits().receive_capacity_bytes == 8 * 65 * 1472);
  CHECK(many->limits().receive_capacity_bytes == 8 * 65 * 1472);
  CHECK(many->limits().paths == 64);
}

}  // namespace dlcp::datapath::test
