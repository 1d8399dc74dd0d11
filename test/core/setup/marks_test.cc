// Events at both ends of a connection through a network that drops or clears DSCP and ECN.
#include <array>
#include <vector>

#include "catch.h"
#include "core/endpoint.h"
#include "core/endpoint_addresses.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::core;
using dlcp::test::address_of;

namespace {

enum class Network : std::uint8_t { kDropsMarks, kClearsMarks };

Config that_can_unmark() {
  Config config;
  config.can_unmark = true;
  return config;
}

// Two endpoints that receive each other's packets at once. The network treats marks of packets
// from `a` to `b` only.
struct Pair {
  Network network;
  Endpoint a{that_can_unmark(), address_of(0), test::secrets_of(1)};
  Endpoint b{that_can_unmark(), address_of(1), test::secrets_of(2)};
  Time now = time_from_ns(1'000'000'000);

  bool carry(Endpoint& from, Endpoint& to) {
    std::array<wire::TxPacket, 16> packets;
    const std::size_t count = from.poll_transmit(now, packets);
    for (const wire::TxPacket& packet : std::span(packets).first(count)) {
      if (&from == &a && network == Network::kDropsMarks && !packet.unmarked) continue;
      std::vector<std::byte> bytes(packet.header.begin(),
                                   packet.header.begin() + packet.header_bytes);
      bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
      wire::RxPacket arrived{.bytes = bytes, .arrived_at = now, .source = {}};
      if (&from == &b && !packet.unmarked) arrived.dscp = 40;
      to.on_packets(now, {&arrived, 1});
    }
    return count > 0;
  }
  void run(Duration duration) {
    for (const Time until = now + duration; now < until; now += 50us) {
      a.on_timeout(now);
      b.on_timeout(now);
      for (bool moved = true; moved;) {
        moved = carry(a, b);
        moved = carry(b, a) || moved;
      }
    }
  }
  bool opens() {
    const auto listening = b.listen(1, 1);
    a.connect(now, 1, listening.invitation, address_of(1));
    run(400ms);
    return b.accept(listening.id).has_value();
  }
};

}  // namespace

TEST_CASE("where marks are dropped in one direction, both ends report it once") {
  Pair pair{Network::kDropsMarks};
  REQUIRE(pair.opens());
  for (Endpoint* end : {&pair.a, &pair.b}) {
    const auto event = end->poll_event();
    REQUIRE(event);
    CHECK(event->kind == Event::Kind::kUnmarked);
    CHECK_FALSE(end->poll_event());
  }
}

TEST_CASE("where marks are cleared in one direction, both ends keep their marks") {
  Pair pair{Network::kClearsMarks};
  REQUIRE(pair.opens());
  CHECK_FALSE(pair.a.poll_event());
  CHECK_FALSE(pair.b.poll_event());
  std::array<wire::TxPacket, 16> packets;
  const auto listening = pair.a.listen(2, 1);
  pair.b.connect(pair.now, 2, listening.invitation, address_of(0));
  pair.b.on_timeout(pair.now);
  REQUIRE(pair.b.poll_transmit(pair.now, packets) > 0);
  CHECK_FALSE(packets[0].unmarked);
}
