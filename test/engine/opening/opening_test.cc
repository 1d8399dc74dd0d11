// Two ranks that both have RoCE and UDP, where RoCE may be blocked: two engines each, over memory.
#include "engine/opening/opening.h"

#include <memory>

#include "catch.h"
#include "datapath/address/device_address.h"
#include "engine/host/clock.h"
#include "engine/memory_datapath.h"
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
    datapath::DeviceAddress address;
    address.ip = datapath::parse_ip_address(side == 0 ? "10.0.0.1" : "10.0.0.2").value();
    address.add(datapath::LocatorKind::kUdpPort, 50'000);
    address.add(datapath::LocatorKind::kQueuePair, 17);
    const auto part = [&](const engine::Carrier& over) {
      return encode(address.only(over.locator));
    };
    auto roce = open(network.roce, side, part(engine::kRoce));
    auto udp = open(network.udp, side, part(engine::kUdp));
    port = engine::Port({{&engine::kRoce, std::move(roce)}, {&engine::kUdp, std::move(udp)}});
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

  engine::Engine& over(const engine::Carrier& carrier) const { return *port.over(carrier)->engine; }
  engine::Port port;
};

// The same listener over both, as a rank of NCCL has it, and the address to connect to.
struct Listening {
  explicit Listening(const Rank& rank)
      : over_roce(rank.over(engine::kRoce).listen(1, 1)),
        over_udp(rank.over(engine::kUdp).listen(1, 1)) {}
  core::Listening over_roce;
  core::Listening over_udp;
};

struct Meeting {
  Network network;
  Rank here{network, 0};
  Rank there{network, 1};
  Listening listening{there};

  engine::Opening open() {
    const engine::Opening::Peer peer{listening.over_udp.invitation, there.port.address()};
    auto route = engine::choose_route(here.port, peer.address);
    REQUIRE(route.ok());
    REQUIRE(route->over == &engine::kRoce);
    return {here.port, 1, peer, route.value(), kPatience};
  }
  // Polls both ranks until the connection is open or has failed.
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
    for (const auto* carrier : engine::carriers()) {
      const bool roce = carrier == &engine::kRoce;
      auto& accepted = roce ? accepted_over_roce : accepted_over_udp;
      const auto listener = (roce ? listening.over_roce : listening.over_udp).id;
      if (accepted == nullptr) accepted = there.over(*carrier).accept(listener, 1).value();
    }
  }
  engine::Connection* accepted_over_roce = nullptr;
  engine::Connection* accepted_over_udp = nullptr;
};

}  // namespace

TEST_CASE("two ranks that can exchange packets over RoCE use it") {
  Meeting meeting;
  engine::Opening opening = meeting.open();
  CHECK(meeting.finish(opening) == ConnectionState::kOpen);
  CHECK(opening.connection()->engine == &meeting.here.over(engine::kRoce));
  CHECK(opening.fallback().empty());
  CHECK(meeting.accepted_over_roce != nullptr);
  CHECK(meeting.accepted_over_udp == nullptr);
}

TEST_CASE(
    "two ranks between which RoCE is blocked connect over UDP, once, and the log gives the "
    "reason") {
  Meeting meeting;
  bool one_way = false;
  SECTION("in both directions") {}
  SECTION("in the return direction only") {
    one_way = true;
  }
  meeting.network.roce->keep = [&](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return one_way && head && head->type == wire::FrameType::kHello;
  };
  const Time begin = engine::steady_now();
  engine::Opening opening = meeting.open();
  CHECK(meeting.finish(opening) == ConnectionState::kOpen);
  CHECK(engine::steady_now() - begin >= kPatience);
  CHECK(opening.connection()->engine == &meeting.here.over(engine::kUdp));
  CHECK(
      opening.fallback() ==
      "over UDP instead of RoCE: the peer at 10.0.0.2 has not answered over RoCE for 50 ms; check "
      "that switches and firewalls pass UDP port 4791");
  CHECK(meeting.accepted_over_roce == nullptr);
  CHECK(meeting.accepted_over_udp != nullptr);
}

TEST_CASE("after an answer over RoCE a peer is not tried over UDP, however slow it becomes") {
  Meeting meeting;
  meeting.network.roce->keep = [](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return head && head->type != wire::FrameType::kStart;
  };
  engine::Opening opening = meeting.open();
  CHECK(meeting.finish(opening) == ConnectionState::kClosed);
  CHECK(opening.connection()->engine == &meeting.here.over(engine::kRoce));
  CHECK(opening.fallback().empty());
  CHECK(meeting.accepted_over_udp == nullptr);
}

TEST_CASE("an answer that another thread receives while UDP is chosen is not thrown away") {
  Meeting meeting;
  engine::Opening opening = meeting.open();
  meeting.network.udp->on_check_reachable = [&] {
    for (int i = 0; i < 3; ++i) {
      meeting.accept();
      meeting.here.over(engine::kRoce).drive();
    }
  };
  const Time begin = engine::steady_now();
  while (engine::steady_now() - begin < kPatience)
    continue;
  CHECK(meeting.finish(opening) == ConnectionState::kOpen);
  CHECK(opening.connection()->engine == &meeting.here.over(engine::kRoce));
  CHECK(opening.fallback().empty());
  REQUIRE(meeting.accepted_over_roce != nullptr);
  CHECK_FALSE(meeting.accepted_over_roce->failed);
  CHECK(meeting.accepted_over_udp == nullptr);
}

TEST_CASE("a peer that never answers fails only the opening, and everything else continues") {
  Meeting meeting;
  engine::Opening first = meeting.open();
  REQUIRE(meeting.finish(first) == ConnectionState::kOpen);
  engine::Opening::Peer nobody{meeting.listening.over_udp.invitation, meeting.there.port.address()};
  nobody.address.bytes[4] = std::byte{9};
  meeting.network.roce->keep = [](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return !head || head->type != wire::FrameType::kHello;
  };
  engine::Opening second(meeting.here.port, 1, nobody,
                         engine::choose_route(meeting.here.port, nobody.address).value(), 3s);
  // The opening is abandoned: only the engines are driven.
  for (const Time end = engine::steady_now() + 10s;
       engine::steady_now() < end && !second.connection()->failed;) {
    meeting.here.over(engine::kRoce).drive();
    meeting.there.over(engine::kRoce).drive();
  }
  CHECK(first.poll() == ConnectionState::kOpen);
  CHECK_FALSE(second.failure());
  CHECK(second.poll() == ConnectionState::kClosed);
  REQUIRE(second.failure());
  CHECK(second.connection() == nullptr);
  CHECK(first.poll() == ConnectionState::kOpen);
}

namespace {

// Two ranks with a device on each of two rails, over UDP only.
struct Rails {
  std::shared_ptr<Wire> wires[2] = {std::make_shared<Wire>(), std::make_shared<Wire>()};
  engine::Port here[2] = {open(0, 0), open(0, 1)};
  engine::Port there[2] = {open(1, 0), open(1, 1)};
  core::Listening listening[2] = {listen(0), listen(1)};
  engine::Connection* accepted[2] = {};

  engine::Port open(int side, std::size_t rail) const {
    datapath::DeviceAddress address;
    address.ip = datapath::parse_ip_address(side == 0 ? "10.0.0.1" : "10.0.0.2").value();
    address.ip.bytes[2] = static_cast<std::uint8_t>(rail);
    address.add(datapath::LocatorKind::kUdpPort, 50'000);
    return engine::Port({{&engine::kUdp, Rank::open(wires[rail], side, encode(address))}});
  }
  engine::Engine& engine_of(const engine::Port& port) const { return *port.lanes()[0].engine; }
  core::Listening listen(std::size_t rail) const {
    return engine_of(there[rail]).listen(1, 1, {}, rail != 0);
  }
  engine::Opening connect() {
    engine::OpeningWays ways;
    for (const std::size_t rail : {0, 1})
      ways.ways.all.push_back({rail, rail, there[rail].address()});
    ways.port_of = [this](std::size_t device) { return Result<engine::Port>(here[device]); };
    ways.until = 1s;
    const engine::Opening::Peer peer{listening[0].invitation, there[0].address()};
    return {here[0],   1,
            peer,      engine::Route{&engine::kUdp, there[0].address(), {}},
            kPatience, engine::Opening::Over::kOneLane,
            ways};
  }
  ConnectionState finish(engine::Opening& opening) {
    auto state = ConnectionState::kCalling;
    const auto is_over = [&] {
      return state == ConnectionState::kOpen || state == ConnectionState::kClosed;
    };
    for (const Time end = engine::steady_now() + 5s; !is_over() && engine::steady_now() < end;) {
      state = opening.poll();
      for (const std::size_t rail : {0, 1})
        if (accepted[rail] == nullptr)
          accepted[rail] = engine_of(there[rail]).accept(listening[rail].id, 1).value();
    }
    return state;
  }
};

}  // namespace

TEST_CASE("if the first rail is dead, in one direction or both, the next one is used, once") {
  Rails rails;
  bool one_way = false;
  SECTION("in both directions") {}
  SECTION("in the return direction only") {
    one_way = true;
  }
  rails.wires[0]->keep = [&](std::span<const std::byte> datagram) {
    const auto head = wire::decode_head(datagram);
    return one_way && head && head->type == wire::FrameType::kHello;
  };
  engine::Opening opening = rails.connect();
  CHECK(rails.finish(opening) == ConnectionState::kOpen);
  CHECK(opening.way()->device == 1);
  CHECK(rails.accepted[0] == nullptr);
  CHECK(rails.accepted[1] != nullptr);
}

TEST_CASE("the first rail is used if it answers") {
  Rails rails;
  engine::Opening opening = rails.connect();
  CHECK(rails.finish(opening) == ConnectionState::kOpen);
  CHECK(opening.way()->device == 0);
  CHECK(rails.accepted[1] == nullptr);
}

TEST_CASE("if no rail answers, the opening fails in time and reports how many were tried") {
  Rails rails;
  for (const auto& wire : rails.wires)
    wire->keep = [](std::span<const std::byte>) { return false; };
  engine::Opening opening = rails.connect();
  const Time begin = engine::steady_now();
  CHECK(rails.finish(opening) == ConnectionState::kClosed);
  CHECK(engine::steady_now() - begin < 1500ms);
  REQUIRE(opening.failure());
  CHECK_THAT(opening.failure()->what, Contains("1 other pair"));
  CHECK(opening.connection() == nullptr);
  CHECK(opening.bundle().empty());
}
