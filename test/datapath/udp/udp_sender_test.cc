// BurstSender when the kernel refuses segmentation, or has no buffer space.
#include <arpa/inet.h>
#include <sys/socket.h>

#include "catch.h"
#include "datapath/udp/send/burst_sender.h"
#include "udp_namespace.h"
#include "udp_traffic.h"

namespace dlcp::datapath::test {
namespace {

// Without its checksum a socket refuses segmentation: the kernel returns EINVAL.
UdpSocket open_socket_without_gso() {
  Rng rng(5);
  UdpSocketOptions options;
  options.local_ip = loopback_ip(IpFamily::kV4);
  options.reports_errors = true;
  UdpSocket socket = open_udp_socket(options, rng).value();
  const int one = 1;
  REQUIRE(::setsockopt(socket.fd.get(), SOL_SOCKET, SO_NO_CHECK, &one, sizeof one) == 0);
  return socket;
}

BurstSender::Options sender_options() {
  BurstSender::Options options;
  options.segment_bytes_max = 1472;
  options.tos = default_tos();
  return options;
}

}  // namespace

TEST_CASE(
    "if a socket refuses to segment a burst, packets are sent one by one for 1 s, then for 2 s") {
  const auto receiver = open_datapath(loopback_options());
  REQUIRE(receiver);
  const UdpSocket socket = open_socket_without_gso();
  UdpCounters counters;
  BurstSender sender(sender_options(), {socket.fd.get()});

  Packets packets(receiver->local_address());
  for (int i = 0; i < 10; ++i)
    packets.add(1200);
  CHECK(sender.gso_on());
  REQUIRE(sender.send(packets.all(), Time{}, counters) == 10);
  CHECK_FALSE(sender.gso_on());
  CHECK(counters.tx_packets == 10);
  const std::uint64_t syscalls = counters.tx_syscalls;
  REQUIRE(sender.send(packets.all(), Time{}, counters) == 10);
  CHECK(counters.tx_syscalls == syscalls + 1);  // one sendmmsg
  const auto arrivals = receive_count(*receiver, 20);
  REQUIRE(arrivals.size() == 20);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(has_pattern(arrivals[i].bytes, i % 10));

  const auto calls_at = [&](Duration now) {
    const std::uint64_t before = counters.tx_syscalls;
    REQUIRE(sender.send(packets.all(), Time(now), counters) == 10);
    return counters.tx_syscalls - before;
  };
  CHECK(calls_at(1s - 1ns) == 1);
  CHECK(calls_at(1s) == 11);  // one that is refused, and one for each packet
  CHECK(calls_at(3s - 1ns) == 1);
  const int zero = 0;
  REQUIRE(::setsockopt(socket.fd.get(), SOL_SOCKET, SO_NO_CHECK, &zero, sizeof zero) == 0);
  const std::uint64_t bursts = counters.tx_bursts;
  CHECK(calls_at(3s) == 1);
  CHECK(counters.tx_bursts == bursts + 1);
  CHECK(sender.gso_on());
}

// Kernels before 6.14 reject a burst with EINVAL if its packets exceed the MTU of a route.
TEST_CASE("a burst of which only the short last packet can be sent does not end segmentation") {
  UdpCounters counters;
  bool gso_on = false;
  const bool ran = in_namespace(
      {"tc qdisc add dev lo root tbf rate 1mbit burst 1000 limit 100000"},  // drops longer packets
      [&] {
        const auto receiver = open_datapath(loopback_options());
        const UdpSocket socket = open_socket_without_gso();
        BurstSender sender(sender_options(), {socket.fd.get()});
        Packets packets(receiver->local_address());
        packets.add(1200);
        packets.add(1200);
        packets.add(100);
        sender.send(packets.all(), Time{}, counters);
        gso_on = sender.gso_on();
      });
  if (!ran) {
    WARN("skipped: no network namespace or no tbf queue here");
    return;
  }
  CHECK(counters.tx_packets == 1);
  CHECK(counters.tx_error_no_buffers == 2);
  CHECK(gso_on);
}

TEST_CASE("a burst of packets too large for the route is lost, and segmentation stays on") {
  const auto [sender, receiver] = open_pair();
  Packets packets(receiver->local_address());
  packets.add(65508);
  packets.add(65508);
  CHECK(sender->send(packets.all()) == 2);
  CHECK(sender->counters().tx_error_too_big == 2);
  CHECK(sender->counters().gso_on);
}

TEST_CASE("a packet of another size, class or path starts a new burst") {
  const auto [sender, receiver] = open_pair();
  Packets packets(receiver->local_address());
  packets.add(500, 0);  // burst of three: the last is shorter
  packets.add(500, 0);
  packets.add(300, 0);
  packets.add(300, 0);  // two
  packets.add(300, 0);
  packets.add(301, 0);                          // larger than the one before
  packets.add(301, 0, TrafficClass::kControl);  // another class
  packets.add(301, 3, TrafficClass::kControl);  // another path
  REQUIRE(sender->send(packets.all()) == 8);
  CHECK(sender->counters().tx_bursts == 2);
  CHECK(sender->counters().tx_syscalls == 2);  // one per socket
  CHECK(receive_count(*receiver, 8).size() == 8);
}

TEST_CASE("bursts have at most 64 packets and the bytes of one IP datagram") {
  const auto [sender, receiver] = open_pair();
  Packets small(receiver->local_address());
  for (int i = 0; i < 130; ++i)
    small.add(100);
  REQUIRE(sender->send(small.all()) == 130);
  CHECK(sender->counters().tx_bursts == 3);
  CHECK(receive_count(*receiver, 130).size() == 130);
  Packets large(receiver->local_address());
  for (int i = 0; i < 8; ++i)
    large.add(20000);
  REQUIRE(sender->send(large.all()) == 8);
  CHECK(sender->counters().tx_bursts == 3 + 3);  // 3 + 3 + 2 packets
  CHECK(receive_count(*receiver, 8).size() == 8);
}

TEST_CASE("a full send buffer stops the sender, and the rest is sent when there is room") {
  bool stopped = false;
  std::size_t taken = 0;
  std::size_t arrived = 0;
  std::uint64_t lost = 0;
  // Loopback is limited to 1 Mbit/s so that packets stay charged to their sender.
  const bool ran =
      in_namespace({"tc qdisc add dev lo root tbf rate 1mbit burst 70000 limit 100000000"}, [&] {
        UdpOptions options = loopback_options();
        options.datagram_bytes_max = 1472;
        options.send_buffer_bytes = 20000;
        options.gso = false;
        auto sender = UdpDatapath::open(options);
        auto receiver = UdpDatapath::open(options);
        if (!sender || !receiver) return;
        Packets packets(receiver.value()->local_address());
        for (int i = 0; i < 100; ++i)
          packets.add(1400);
        const std::span<const wire::TxPacket> all = packets.all();
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (taken < 100 && std::chrono::steady_clock::now() < give_up) {
          const std::size_t now_taken = sender.value()->send(all.subspan(taken));
          stopped = stopped || taken + now_taken < 100;
          taken += now_taken;
          arrived += receive_count(*receiver.value(), now_taken).size();
        }
        arrived += receive_count(*receiver.value(), 100 - arrived).size();
        for (const auto& [name, count] : sender.value()->counts())
          lost += name.starts_with("tx_error") ? count : 0;
      });
  if (!ran) {
    WARN("skipped: no network namespace or no tbf queue here");
    return;
  }
  CHECK(stopped);
  CHECK(taken == 100);
  CHECK(lost == 0);
  CHECK(arrived == 100);
}

}  // namespace dlcp::datapath::test
