// ICMP errors from peers' hosts for closed ports, over the kernel's loopback.
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "catch.h"
#include "datapath/udp/udp_datapath.h"
#include "udp_traffic.h"

namespace dlcp::datapath::test {
namespace {

// The error that the peer's host reports for `sender`'s packets; waits for one up to a second.
std::vector<std::byte> wait_for_refusal(UdpDatapath& sender) {
  std::array<wire::RxPacket, 8> out;
  for (int tries = 0; tries < 1000; ++tries) {
    sender.receive(steady_now(), out);
    if (const auto refused = sender.next_refused(); !refused.empty())
      return {refused.begin(), refused.end()};
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

}  // namespace

TEST_CASE("a packet to a closed port is reported as refused, with its first bytes") {
  const IpFamily family = GENERATE(IpFamily::kV4, IpFamily::kV6);
  const auto sender = open_datapath(loopback_options(family));
  auto receiver = open_datapath(loopback_options(family));
  if (!sender || !receiver) return;
  Packets packets(receiver->local_address());
  packets.add(600, 2);
  receiver.reset();  // its process is killed
  REQUIRE(sender->send(packets.all()) == 1);
  const auto refused = wait_for_refusal(*sender);
  REQUIRE(refused.size() >= 12);
  CHECK(has_pattern(refused, 0));
  CHECK(sender->next_refused().empty());
  CHECK(sender->counters().rx_refused == 1);
  CHECK(sender->counters().rx_refused_ignored == 0);
}

TEST_CASE("a refusal for one peer loses no packet to another peer on the same sockets") {
  const auto sender = open_datapath(loopback_options());
  const auto alive = open_datapath(loopback_options());
  auto dead = open_datapath(loopback_options());
  if (!sender || !alive || !dead) return;
  Packets to_dead(dead->local_address());
  to_dead.add(100);
  dead.reset();
  for (int round = 0; round < 20; ++round) {
    Packets to_alive(alive->local_address());
    to_alive.add(100);
    REQUIRE(sender->send(to_dead.all()) == 1);  // the next call on the socket returns its refusal
    REQUIRE(sender->send(to_alive.all()) == 1);
    REQUIRE(receive_count(*alive, 1).size() == 1);
  }
}

TEST_CASE("a rejection by this host is reported with the time at which it happened") {
  const auto sender = open_datapath(loopback_options());
  REQUIRE(sender);
  const auto send_to = [&](const char* text, Time now) {
    std::array<wire::RxPacket, 8> out;
    sender->receive(now, out);
    DeviceAddress to;
    to.ip = parse_ip_address(text).value();
    to.add(LocatorKind::kUdpPort, 50'000);
    Packets packets(encode(to));
    packets.add(100);
    REQUIRE(sender->send(packets.all()) == 1);
    return sender->last_report(encode(to));
  };
  CHECK(send_to("127.0.0.1", time_from_ns(1)).kind == PathReport::Kind::kNothing);
  // The kernel rejects broadcasts (EACCES) as it does what a routing rule prohibits.
  const auto rejected = send_to("127.255.255.255", time_from_ns(5));
  CHECK(rejected.kind == PathReport::Kind::kProhibited);
  CHECK(rejected.from.empty());
  CHECK(rejected.at == time_from_ns(5));
  CHECK(send_to("127.0.0.2", time_from_ns(9)).at == time_from_ns(5));
}

TEST_CASE("a refused send is explained by its own error, not by an earlier one") {
  const auto sender = open_datapath(loopback_options());
  REQUIRE(sender);
  const auto address_of = [](const char* text) {
    DeviceAddress address;
    address.ip = parse_ip_address(text).value();
    address.add(LocatorKind::kUdpPort, 50'000);
    return encode(address);
  };
  Packets packets(address_of("127.255.255.255"));  // a broadcast: EACCES
  packets.add(100);
  REQUIRE(sender->send(packets.all()) == 1);
  const auto refused = sender->take_refused_peer();
  REQUIRE(refused);
  CHECK(refused->address == address_of("127.255.255.255"));
  CHECK(refused->error == EACCES);
  CHECK(sender->report_of(*refused).kind == PathReport::Kind::kProhibited);

  const auto other = address_of("127.0.0.2");
  CHECK(sender->last_report(other).kind == PathReport::Kind::kProhibited);  // the earlier one
  CHECK(sender->report_of({other, EHOSTUNREACH}).kind == PathReport::Kind::kNothing);
  CHECK(sender->report_of({other, EPERM}).kind == PathReport::Kind::kNotPermitted);

  Packets to_closed(other);
  to_closed.add(100);
  REQUIRE(sender->send(to_closed.all()) == 1);
  REQUIRE_FALSE(wait_for_refusal(*sender).empty());
  CHECK(sender->last_report(other).kind == PathReport::Kind::kPortUnreachable);
  CHECK(sender->report_of({other, EPERM}).kind == PathReport::Kind::kNotPermitted);
}

TEST_CASE("an ICMPv6 rejection of one peer's packets loses no packet to another peer") {
  const auto sender = open_datapath(loopback_options(IpFamily::kV6));
  const auto receiver = open_datapath(loopback_options(IpFamily::kV6));
  if (!sender || !receiver) return;
  const int raw = ::socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
  if (raw < 0) return;  // not permitted
  // Administratively prohibited, quoting the headers of a packet from the first path to port 9.
  struct {
    icmp6_hdr icmp{};
    ip6_hdr ip{};
    udphdr udp{};
    std::array<std::byte, 8> payload{};
  } message;
  message.icmp.icmp6_type = ICMP6_DST_UNREACH;
  message.icmp.icmp6_code = ICMP6_DST_UNREACH_ADMIN;
  message.ip.ip6_vfc = 6 << 4;
  constexpr std::size_t kUdpBytes = sizeof message.udp + sizeof message.payload;
  message.ip.ip6_plen = htons(kUdpBytes);
  message.ip.ip6_nxt = IPPROTO_UDP;
  message.ip.ip6_src = message.ip.ip6_dst = in6addr_loopback;
  message.udp.source = htons(sender->port_of(0));
  message.udp.dest = htons(9);
  message.udp.len = htons(kUdpBytes);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  const ssize_t sent =
      ::sendto(raw, &message, sizeof message, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  ::close(raw);
  REQUIRE(sent == static_cast<ssize_t>(sizeof message));
  Packets packets(receiver->local_address());
  packets.add(100);
  REQUIRE(sender->send(packets.all()) == 1);
  CHECK(receive_count(*receiver, 1).size() == 1);
  CHECK(sender->counters().tx_error_not_permitted == 0);
  CHECK_FALSE(sender->take_refused_peer().has_value());
  CHECK_FALSE(wait_for_refusal(*sender).empty());  // the error did reach the sending socket
}

TEST_CASE("a forged ICMP error about a receiving port leaves nothing to read") {
  const auto receiver = open_datapath(loopback_options());
  if (!receiver) return;
  const int raw = ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
  if (raw < 0) return;  // not permitted
  const std::uint32_t port = receiver->address().of(LocatorKind::kUdpPort).front().value;
  // Port unreachable, quoting the headers of a packet from that port to port 9.
  std::array<std::uint8_t, 36> message{3, 3};
  constexpr std::array<std::uint8_t, 20> kQuotedIp{0x45, 0, 0,   28, 0, 0, 0,   0, 64, 17,
                                                   0,    0, 127, 0,  0, 1, 127, 0, 0,  1};
  std::ranges::copy(kQuotedIp, message.begin() + 8);
  message[28] = static_cast<std::uint8_t>(port >> 8);
  message[29] = static_cast<std::uint8_t>(port);
  message[31] = 9;
  message[33] = 8;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < message.size(); i += 2)
    sum += static_cast<std::uint32_t>(message[i] << 8 | message[i + 1]);
  sum = (sum >> 16) + (sum & 0xffff);
  sum = ~(sum + (sum >> 16)) & 0xffff;
  message[2] = static_cast<std::uint8_t>(sum >> 8);
  message[3] = static_cast<std::uint8_t>(sum);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const ssize_t sent = ::sendto(raw, message.data(), message.size(), 0,
                                reinterpret_cast<const sockaddr*>(&to), sizeof to);
  ::close(raw);
  REQUIRE(sent == static_cast<ssize_t>(message.size()));
  pollfd wait{receiver->wait_descriptor(), POLLIN, 0};
  CHECK(::poll(&wait, 1, 50) == 0);  // else the helper thread would spin
}

}  // namespace dlcp::datapath::test
