// Hosts whose processors cannot keep up with the packets of many connections, as when a host runs
// more ranks than it has cores. Frames that ask whether a peer is alive must not take the processor
// time that the data needs.
#include <vector>

#include "catch.h"
#include "wire/frame_head.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

constexpr HostIndex kHosts = 8;
constexpr int kChannels = 4;
constexpr int kMessages = 4;

bool asks_for_life(std::span<const std::byte> datagram) {
  const auto head = wire::decode_head(datagram);
  return head && (head->type == wire::FrameType::kPing || head->type == wire::FrameType::kPong);
}

}  // namespace

// A host has 28 connections on which it waits for data. If each sent PING every 60 ms, PING and
// PONG alone would need 1.9 s of processor time per second at 1 ms per packet, and 7.5 s at 4 ms.
TEST_CASE(
    "hosts too slow for a PING every 60 ms on each connection finish an all-to-all exchange") {
  const auto packet_cost = GENERATE(Duration(1ms), Duration(4ms));
  WorldConfig config;
  config.network = single_switch(kHosts, {.mtu = 9000, .paths = 4});
  config.host.packet_cost = packet_cost;
  World world(std::move(config));
  std::vector<std::size_t> flows;
  for (HostIndex from = 0; from < kHosts; ++from)
    for (HostIndex step = 1; step < kHosts; ++step)
      for (int channel = 0; channel < kChannels; ++channel)
        flows.push_back(world.open_flow(from, (from + step) % kHosts));
  for (const std::size_t flow : flows)
    world.transfer(flow, 1);
  world.finish(60s);
  std::int64_t packets = 0;
  std::int64_t asking = 0;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    ++packets;
    asking += asks_for_life(datagram);
    return true;
  });
  const Time begin = world.now();
  for (const std::size_t flow : flows)
    for (int message = 0; message < kMessages; ++message)
      world.transfer(flow, 64 << 10);
  world.run_until(begin + 100s, [&] { return world.finished(); });
  REQUIRE(world.finished());
  // A host sends and receives 14,000 / 8 data packets and acknowledgements, which take 3600 times
  // the cost of a packet.
  CHECK(world.now() - begin <= 6000 * packet_cost);
  CHECK(10 * asking <= 3 * packets);
}
