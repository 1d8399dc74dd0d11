// A broken invariant ends the connection in which it occurs, and no other.
#include <array>
#include <cstring>
#include <vector>

#include "catch.h"
#include "core/endpoint.h"
#include "core/endpoint_addresses.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::core;
using dlcp::test::address_of;

namespace {

// Two endpoints that receive each other's packets at once.
struct Pair {
  Endpoint a{Config{}, address_of(0), test::secrets_of(1)};
  Endpoint b{Config{}, address_of(1), test::secrets_of(2)};
  Time now = time_from_ns(1'000'000'000);

  bool carry(Endpoint& from, Endpoint& to) {
    std::array<wire::TxPacket, 16> packets;
    const std::size_t count = from.poll_transmit(now, packets);
    for (std::size_t i = 0; i < count; ++i) {
      const wire::TxPacket& packet = packets[i];
      std::vector<std::byte> bytes(packet.header.begin(),
                                   packet.header.begin() + packet.header_bytes);
      bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
      const wire::RxPacket arrived{.bytes = bytes, .arrived_at = now, .source = {}};
      to.on_packets(now, {&arrived, 1});
      for (const Placement& placed : to.placements())
        if (!placed.payload.empty())
          std::memcpy(placed.destination, placed.payload.data(), placed.payload.size());
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
};

struct Opened {
  ConnectionId sending = 0;
  ConnectionId receiving = 0;
};

Opened open(Pair& pair, ContextId context) {
  const auto listening = pair.b.listen(context, static_cast<std::uint32_t>(context));
  Opened opened;
  opened.sending = pair.a.connect(pair.now, context, listening.invitation, address_of(1));
  pair.run(200ms);
  opened.receiving = pair.b.accept(listening.id).value();
  return opened;
}

}  // namespace

TEST_CASE("a broken invariant closes its connection with an error that names the invariant") {
  Pair pair;
  const Opened broken = open(pair, 1);
  const Opened other = open(pair, 2);
  std::vector<std::byte> buffer(10'000);
  // A ring without hops would cause a division by zero.
  const Licence no_ring{.collective = 1, .result_bytes = 10'000, .ranks = 2, .hops = 0};
  CHECK_FALSE(pair.b.post_receive(pair.now, broken.receiving, 7, buffer, no_ring));

  const auto closed = pair.b.poll_event();
  REQUIRE(closed);
  CHECK(closed->kind == Event::Kind::kClosed);
  CHECK(closed->connection == broken.receiving);
  CHECK(closed->error.code == ErrorCode::kInternal);
  CHECK(closed->error.what ==
        "an invariant of DLCP is broken: a licence counts the ranks and hops of its ring");
  CHECK(pair.b.state(broken.receiving) == ConnectionState::kClosed);
  CHECK_FALSE(pair.b.poll_event());

  pair.run(10ms);  // time for the RESET to reach the peer
  const auto told = pair.a.poll_event();
  REQUIRE(told);
  CHECK(told->connection == broken.sending);
  CHECK(told->error.code == ErrorCode::kRemote);
  CHECK_THAT(told->error.what, Contains("the ranks and hops of its ring"));

  // A connection of another context is not affected.
  const std::vector<std::byte> message(10'000, std::byte{5});
  REQUIRE(pair.b.post_receive(pair.now, other.receiving, 8, buffer));
  REQUIRE(pair.a.post_send(pair.now, other.sending, 9, message));
  pair.run(100ms);
  const auto received = pair.b.poll_event();
  REQUIRE(received);
  CHECK(received->kind == Event::Kind::kReceiveDone);
  CHECK(received->request == 8);
  CHECK(buffer == message);
}
