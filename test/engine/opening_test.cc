// Two ranks that both have RoCE and UDP, where RoCE may be blocked: two engines each, over memory.
#include "engine/opening.h"

#include <memory>

#include "catch.h"
#include "datapath/udp/udp_address.h"
#include "engine/clock.h"
#include "memory_datapath.h"
#include "secrets.h"
#include "wire/frame_head.h"

using namespace dlcp;
using namespace dlcp::test;
using core::ConnectionState;

namespace {

constexpr Duration kPatience = 50ms;

struct Network {
  std::shared_ptr<Wire> roce = std::make_shared<Wire>();
  std::shared_ptr<Wire> udp = std::make_shared<Wire>();
};

struct Rank {
  Rank(const Network& network, int side) {
    datapath::UdpAddress address;
    address.ip = datapath::parse_ip_address(side == 0 ? "10.0.0.1" : "10.0.0.2").value();
    address.queue_pair = 17;
    engines.roce = open(network.roce, side, encode(address));
    address.queue_pair = 0;
    address.port_count = 1;
    address.ports[0] = 50'000;
    engines.udp = open(network.udp, side, encode(address));
  }

  static std::shared_ptr<engine::Engine> open(const std::shared_ptr<Wire>& wire, int side,
                                              const wire::EndpointAddress& address) {
    core::Config config;
    config.peer_timeout = 1s;
    config.receive_capacity_bytes = std::size_t{1} << 20;
    return std::make_shared<engine::Engine>(
        std::make_unique<MemoryDatapath>(wire, side, address), config,
        secrets_of(static_cast<std::uint64_t>(side + 1)), [](const engine::LogLine&) {},
        [](core::ContextId, const Error&) {});
  }

  engine::Engines engines;
};

// The same listener over both, as a rank of NCCL has it; what a rank connects to.
struct Listening {
  explicit Listening(const Rank& rank)
      : over_roce(rank.engines.roce->listen(1, 1)), over_udp(rank.engines.udp->listen(1, 1)) {}
  core::Endpoint::Listening over_roce;
  core::Endpoint::Listening over_udp;
};

struct Meeting {
  Network network;
  Rank here{network, 0};
  Rank there{network, 1};
  Listening listening{there};

  engine::Opening open() {
    const engine::Opening::Peer peer{listening.over_udp.invitation, there.engines.address()};
    auto route = engine::choose_route(here.engines, peer.address);
    REQUIRE(route.ok());
    REQUIRE(route->over == engine::Carrier::kRoce);
    return {here.engines, 1, peer, route.value(), kPatience};
  }
  // Polls both ranks until the connection is no longer being opened.
  ConnectionState finish(engine::Opening& opening) {
    auto state = ConnectionState::kCalling;
    for (const Time end = engine::steady_now() + 5s; engine::steady_now() < end;) {
      state = opening.poll();
      if (state == ConnectionState::kOpen || state == ConnectionState::kClosed) break;
      accept();
    }
    accept();
    return state;
  }
  void accept() {
    for (const auto carrier : {engine::Carrier::kRoce, engine::Carrier::kUdp}) {
      const bool roce = carrier == engine::Carrier::kRoce;
      auto& accepted = roce ? accepted_over_roce : accepted_over_udp;
      const auto listener = (roce ? listening.over_roce : listening.over_udp).id;
      if (accepted == nullptr) accepted = there.engines.over(carrier)->accept(listener, 1).value();
    }
  }
  engine::Connection* accepted_over_roce = nullptr;
  engine::Connection* accepted_over_udp = nullptr;
};

}  // namespace

TEST_CASE("two ranks that hear each other over RoCE stay there") {
  Meeting meeting;
  engine::Opening opening = meeting.open();
  CHECK(meeting.finish(opening) == ConnectionState::kOpen);
  CHECK(opening.connection()->engine == meeting.here.engines.roce.get());
  CHECK(opening.why_not_roce().empty());
  CHECK(meeting.accepted_over_roce != nullptr);
  CHECK(meeting.accepted_over_udp == nullptr);
}

TEST_CASE("two ranks between which RoCE is blocked meet over UDP, once, and know why") {
  Meeting meeting;
  bool one_way = false;
  SECTION("both ways") {}
  SECTION("on the way back alone") {
    one_way = true;
  }
  meeting.network.roce->keep = [&](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return one_way && head && head->type == wire::FrameType::kHello;
  };
  engine::Opening opening = meeting.open();
  const Time begin = engine::steady_now();
  CHECK(meeting.finish(opening) == ConnectionState::kOpen);
  CHECK(engine::steady_now() - begin >= kPatience);
  CHECK(opening.connection()->engine == meeting.here.engines.udp.get());
  CHECK(opening.why_not_roce() ==
        "the peer at 10.0.0.2 has not answered over RoCE for 50 ms; check that switches and "
        "firewalls pass UDP port 4791");
  CHECK(meeting.accepted_over_roce == nullptr);
  CHECK(meeting.accepted_over_udp != nullptr);
}

TEST_CASE("a peer that was heard over RoCE is never left for UDP, however slow it is then") {
  Meeting meeting;
  meeting.network.roce->keep = [](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return head && head->type != wire::FrameType::kStart;
  };
  engine::Opening opening = meeting.open();
  CHECK(meeting.finish(opening) == ConnectionState::kClosed);
  CHECK(opening.connection()->engine == meeting.here.engines.roce.get());
  CHECK(opening.why_not_roce().empty());
  CHECK(meeting.accepted_over_udp == nullptr);
}
