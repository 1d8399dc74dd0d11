// The promise behind receive credits: a socket holds as many packets as its capacity states.
#include "catch.h"
#include "datapath/udp/receive/receive_capacity.h"
#include "udp_traffic.h"

namespace dlcp::datapath::test {

TEST_CASE(
    "truesize is the memory block that the packet's data is rounded up to, plus its sk_buff") {
  struct Case {
    std::size_t datagram_bytes;
    std::size_t truesize;
  };
  for (const Case& c :
       {Case{0, 768}, Case{64, 768}, Case{66, 768}, Case{67, 1280}, Case{1472, 2304},
        Case{4172, 8448}, Case{8972, 16640}, Case{65507, 131328}}) {
    INFO(c.datagram_bytes);
    CHECK(truesize_estimate(c.datagram_bytes) == c.truesize);
  }
}

TEST_CASE(
    "capacity is in whole packets, from three quarters of the budget, limited by the backlog") {
  ReceiveBuffers buffers;
  buffers.datagram_bytes = 1472;
  buffers.socket_budget_bytes = 425984;  // with the default rmem_max
  CHECK(receive_capacity(buffers) == 138 * 1472);
  buffers.sockets = 16;
  CHECK(receive_capacity(buffers) == 1104 * 1472);
  buffers.backlog_packets = 1000;
  CHECK(receive_capacity(buffers) == 1000 * 1472);
  buffers.socket_budget_bytes = 0;
  CHECK(receive_capacity(buffers) == 0);
}

TEST_CASE("one socket holds the packets that its capacity promises, sent singly or in bursts") {
  UdpOptions options = loopback_options();
  options.paths = 1;
  options.datagram_bytes_max = GENERATE(1472u, 4172u, 8972u);
  options.receive_buffer_bytes = 212992;
  options.gso = GENERATE(true, false);
  INFO("datagram " << options.datagram_bytes_max << " gso " << options.gso);
  const auto [sender, receiver] = open_pair(options);
  const std::size_t capacity = receiver->limits().receive_capacity_bytes;
  const std::size_t count = capacity / options.datagram_bytes_max;
  REQUIRE(count > 8);
  for (int round = 0; round < 3;
       ++round) {  // also while memory of the last round is not returned yet
    Packets packets(receiver->local_address());
    for (std::size_t i = 0; i < count; ++i)
      packets.add(options.datagram_bytes_max);
    REQUIRE(sender->send(packets.all()) == count);
    CHECK(receive_count(*receiver, count).size() == count);
  }
  CHECK(receiver->counters().rx_queue_drops == 0);
}

TEST_CASE("packets that overflow a receive buffer are counted") {
  UdpOptions options = loopback_options();
  options.paths = 1;
  options.receive_buffer_bytes = 8192;
  const auto [sender, receiver] = open_pair(options);
  Packets packets(receiver->local_address());
  for (int i = 0; i < 200; ++i)
    packets.add(1000, 0, i % 2 == 0 ? TrafficClass::kExact : TrafficClass::kControl);
  REQUIRE(sender->send(packets.all()) == 200);
  std::vector<wire::RxPacket> out(64);
  std::size_t got = 0;
  while (const std::size_t more = receiver->receive(steady_now(), out))
    got += more;
  CHECK(got < 200);
  Packets one_more(receiver->local_address());  // the drop count arrives with the next packet
  one_more.add(10);
  REQUIRE(sender->send(one_more.all()) == 1);
  REQUIRE(receive_count(*receiver, 1).size() == 1);
  CHECK(receiver->counters().rx_queue_drops == 200 - got);
}

}  // namespace dlcp::datapath::test
