// ICMP errors from peers' hosts for closed ports, over the kernel's loopback.
#include <array>

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

}  // namespace dlcp::datapath::test
