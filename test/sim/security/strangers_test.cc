// Packets that do not belong to a connection: damaged, foreign, repeated, or from a peer with an
// incompatible version. Also compatible peers that must agree on a packet size.
#include <algorithm>

#include "random_world.h"
#include "seeds.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;
using Recording = std::vector<std::pair<HostIndex, Datagram>>;

// Copies the datagrams that arrive at hosts from now on, at most `most` of them.
void record(World& world, Recording& into, std::size_t most = SIZE_MAX) {
  world.set_filter([&into, most](HostIndex to, Datagram& datagram) {
    if (into.size() < most) into.emplace_back(to, datagram);
    return true;
  });
}

std::uint64_t dropped(World& world, HostIndex host) {
  const auto& counters = world.endpoint(host).counters();
  return counters[Counter::kDroppedMalformed] + counters[Counter::kDroppedVersion] +
         counters[Counter::kDroppedUnauthentic] + counters[Counter::kDroppedForeignHost] +
         counters[Counter::kDroppedReplayed] + counters[Counter::kDroppedUnknownToken] +
         counters[Counter::kDroppedOutOfWindow] + counters[Counter::kDroppedUnexpected];
}

WorldConfig pair_of(std::size_t first_mtu, std::size_t second_mtu) {
  WorldConfig config = behind_a_switch();
  config.network.hosts[0].mtu = first_mtu;
  config.network.hosts[1].mtu = second_mtu;
  return config;
}

// Payload bytes of the largest data packet of a transfer.
std::uint64_t agreed_payload(WorldConfig config, std::size_t fabric_mtu) {
  World world(std::move(config));
  for (HostIndex i : {0u, 1u}) {
    LinkConfig link = world.network().to_host(i).link().config();
    link.mtu = fabric_mtu;
    world.network().to_host(i).link().set_config(link);
  }
  std::uint64_t largest = 0;
  world.set_filter([&](HostIndex, Datagram& datagram) {
    if (const auto data = wire::decode_data(datagram))
      largest = std::max<std::uint64_t>(largest, data->payload.size());
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 100'000);
  world.finish(20s);
  return largest;
}

}  // namespace

TEST_CASE("hosts with different MTUs agree on the smaller one") {
  REQUIRE(agreed_payload(pair_of(9000, 9000), 9000) == 8832);
  REQUIRE(agreed_payload(pair_of(9000, 1500), 9000) == 1408);
  REQUIRE(agreed_payload(pair_of(1500, 9000), 9000) == 1408);
  REQUIRE(agreed_payload(pair_of(4200, 9000), 9000) == 4096);
}

TEST_CASE("hosts with a large MTU detect that the fabric between them has a smaller one") {
  const auto payload = agreed_payload(pair_of(9000, 9000), 1500);
  REQUIRE(payload >= 1280);
  REQUIRE(payload <= 1408);
}

TEST_CASE("damaged and foreign datagrams change nothing and are counted") {
  for_each_seed(
      100,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(behind_a_switch(seed));
        Recording seen;
        record(world, seen, 500);
        const auto flow = world.open_flow(0, 1);
        for (int k = 0; k < 10; ++k)
          world.transfer(flow, 1 + rng.below(40'000));
        std::uint64_t injected = 0;
        std::uint64_t dropped_before = 0;
        while (!world.finished()) {
          REQUIRE(world.step(world.now() + 1s));
          if (seen.empty() || !rng.chance(0.3)) continue;
          auto [to, datagram] = seen[rng.below(seen.size())];
          switch (rng.below(4)) {
            case 0:  // noise of any length
              datagram.resize(rng.below(datagram.size()));
              for (auto& byte : datagram)
                byte = static_cast<std::byte>(rng.next());
              break;
            case 1:  // truncated within the head
              datagram.resize(rng.below(16));
              break;
            case 2:  // one bit of the header flipped
              datagram[rng.below(16)] ^= static_cast<std::byte>(1u << rng.below(8));
              break;
            default:  // the token of another connection
              datagram[4 + rng.below(8)] ^= std::byte{0x10};
          }
          dropped_before = dropped(world, to);
          const auto placed = world.ledger().placed_bytes(to);
          world.deliver(to, datagram);
          ++injected;
          REQUIRE(dropped(world, to) == dropped_before + 1);
          REQUIRE(world.ledger().placed_bytes(to) == placed);
        }
        world.finish(5s);
        REQUIRE(injected > 0);
      });
}

TEST_CASE("repeated old datagrams change nothing, during the connection and after") {
  for_each_seed(
      100,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(behind_a_switch(seed));
        Recording seen;
        record(world, seen);
        const auto flow = world.open_flow(0, 1);
        world.flow(flow).close_when_done = true;
        for (int k = 0; k < 10; ++k)
          world.transfer(flow, 1 + rng.below(40'000));
        while (!world.finished()) {
          REQUIRE(world.step(world.now() + 1s));
          if (seen.empty() || !rng.chance(0.3)) continue;
          const auto [to, datagram] = seen[rng.below(seen.size())];
          world.deliver(to, datagram);
        }
        world.finish(5s);
        // All datagrams again, to closed connections; none may reopen.
        const auto recorded = std::exchange(seen, {});
        for (const auto& [to, datagram] : recorded)
          world.deliver(to, datagram);
        world.run_for(1s);
        // And again to a new connection between the same hosts.
        const auto second = world.open_flow(0, 1);
        for (int k = 0; k < 5; ++k)
          world.transfer(second, 20'000);
        for (const auto& [to, datagram] : recorded) {
          world.deliver(to, datagram);
          world.step(world.now() + 1ms);
        }
        world.finish(5s);
      });
}

TEST_CASE("packets of a peer with another wire version are counted and change nothing") {
  World world(behind_a_switch());
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  std::vector<std::byte> frame(100);
  frame[0] = std::byte{wire::kMagic};
  frame[1] = std::byte{wire::kWireVersion + 1};
  world.deliver(1, frame);
  REQUIRE(world.endpoint(1).counters()[Counter::kDroppedVersion] == 1);
  world.finish(5s);
}

TEST_CASE(
    "foreign packets cannot exhaust the listener: after ten thousand foreign HELLOs a valid one "
    "connects") {
  World world(behind_a_switch());
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  Rng rng(1);
  wire::Buffer frame;
  for (int i = 0; i < 10'000; ++i) {
    wire::Hello hello;
    hello.destination = rng.next();
    hello.sender_token = rng.next();
    hello.association = rng.next();
    hello.sender_address = world.network().host(0).local_address();
    hello.hello_bytes = 548;
    wire::encode(hello, frame);
    wire::seal(frame, {rng.next(), rng.next()}, 0, 0);
    world.deliver(1, frame);
  }
  REQUIRE(world.endpoint(1).counters()[Counter::kDroppedUnknownToken] == 10'000);
  world.finish(5s);
}

// The copies that post_receive requests point into memory of a connection that the same call ends.
TEST_CASE("stored early data outlives a connection that fails while its receive is posted") {
  World world(behind_a_switch());
  world.ledger().allow_failures();
  std::uint64_t token = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    const auto data = to == 1 ? wire::decode_data(datagram) : std::nullopt;
    if (!data) return true;
    token = data->header.destination;
    return data->header.offset == 0;  // the other packets are lost
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 5'000, Time{}, time_from_ns(10'000'000));
  world.run_until(time_from_ns(9'000'000));
  REQUIRE(token != 0);
  world.deliver(1, world.keys().forge(wire::Close{token, 0}));
  world.run_until(time_from_ns(20'000'000));
  REQUIRE(world.ledger().placed_bytes(1) == 1408);
  REQUIRE(world.flow(flow).receive_error.has_value());
  REQUIRE(world.flow(flow).receives_done == 0);
}

TEST_CASE("a damaged frame does not end the remains of a closed connection") {
  World world(behind_a_switch());
  world.ledger().allow_failures();
  std::uint64_t token = 0;
  bool deaf = false;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    const auto data = to == 1 ? wire::decode_data(datagram) : std::nullopt;
    if (data) token = data->header.destination;
    return !deaf || to == 1;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1'000);
  world.run_until(time_from_ns(1'000'000'000), [&] { return world.flow(flow).receives_done == 1; });
  deaf = true;  // the sender receives neither the last ACK nor CLOSE
  world.close_receiver(flow);
  world.step(world.now() + 1ms);
  auto frame = world.keys().forge(wire::CloseAck{token});
  frame.back() ^= std::byte{1};
  world.deliver(1, frame);
  REQUIRE(world.endpoint(1).counters()[Counter::kDroppedUnauthentic] == 1);
  REQUIRE(world.endpoint(1).has_unconfirmed_closes());
  deaf = false;
  world.run_for(1s);
  REQUIRE(world.flow(flow).sends_done == 1);
  REQUIRE_FALSE(world.flow(flow).send_error.has_value());
}
