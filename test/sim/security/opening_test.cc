// Opening connections with and without an invitation: nothing can be opened without one, and a
// sender with one cannot take more than a share.
#include <algorithm>

#include "catch.h"
#include "random_world.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;

World two_hosts(Duration peer_timeout = 5s) {
  WorldConfig config = behind_a_switch();
  config.core.peer_timeout = peer_timeout;
  return World(std::move(config));
}

wire::HostAddress host_of(World& world, HostIndex host) {
  return wire::host_of(world.network().host(host).local_address());
}

bool is(const Datagram& datagram, wire::FrameType type) {
  const auto head = wire::decode_head(datagram);
  return head && head->type == type;
}

// A HELLO to listener `number`, from a sender with the invitation.
Datagram hello_to(World& world, std::uint32_t number, std::uint64_t sender_token,
                  HostIndex from = 0) {
  const auto invitation = world.invitation(number);
  wire::Hello hello;
  hello.destination = wire::listener_token(invitation);
  hello.listener_number = number;
  hello.sender_token = sender_token;
  hello.association = sender_token + 1;
  hello.stream = 1;
  hello.sender_address = world.network().host(from).local_address();
  hello.hello_bytes = 548;
  wire::Buffer frame;
  wire::encode(hello, frame);
  wire::seal(frame, wire::listener_key(invitation, {}), 0, 0);
  return frame;
}

}  // namespace

TEST_CASE("a listener that is closed, also between HELLO and START, refuses at once") {
  World world = two_hosts();
  world.ledger().allow_failures();
  const bool after_hello = GENERATE(false, true);
  CAPTURE(after_hello);
  bool welcomed = false;
  if (after_hello) {
    world.set_filter([&](HostIndex to, Datagram& datagram) {
      if (to == 0 && is(datagram, wire::FrameType::kWelcome)) welcomed = true;
      return !(to == 1 && is(datagram, wire::FrameType::kStart) && !welcomed);
    });
  }
  const auto flow = world.open_flow(0, 1);
  if (after_hello) world.run_until(world.now() + 1s, [&] { return welcomed; });
  world.endpoint(1).close_listener(world.now(), world.flow(flow).listener);
  const Time begin = world.now();
  world.run_until(begin + 5s, [&] { return world.flow(flow).send_error.has_value(); });
  REQUIRE(world.flow(flow).send_error.has_value());
  CHECK(world.now() - begin < 10ms);
  CHECK_THAT(world.flow(flow).send_error->message(), Contains("the listener was closed"));
}

TEST_CASE("a HELLO copied from the wire opens nothing without the invitation") {
  World world = two_hosts();
  Datagram hello;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 1 && is(datagram, wire::FrameType::kHello)) hello = datagram;
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.run_until(world.now() + 1s, [&] { return !hello.empty(); });
  // With another sender's token, and an arbitrary tag.
  hello[wire::kControlHeadBytes + 4] ^= std::byte{1};
  const auto before = world.endpoint(1).counters()[Counter::kDroppedUnauthentic];
  world.deliver(1, hello);
  CHECK(world.endpoint(1).counters()[Counter::kDroppedUnauthentic] == before + 1);
  world.transfer(flow, 1000);
  world.finish(5s);
}

TEST_CASE("of a hundred thousand half-open connections of one listener 64 are kept") {
  World world = two_hosts();
  world.open_flow(0, 1);  // listener 1 stays open
  const auto flow = world.open_flow(0, 1);
  for (std::uint64_t i = 1; i <= 100'000; ++i)
    world.deliver(1, hello_to(world, 1, i << 8 | 1));
  CHECK(world.endpoint(1).connection_count() <= 64 + 2);
  world.transfer(flow, 100'000);
  world.run_until(world.now() + 5s, [&] { return world.flow(flow).sends_done == 1; });
  CHECK(world.flow(flow).sends_done == 1);
}

TEST_CASE("a sender whose half-open connection was evicted sends HELLO again and connects") {
  World world = two_hosts();
  bool flooded = false;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to != 1 || flooded || !is(datagram, wire::FrameType::kStart)) return true;
    flooded = true;
    for (std::uint64_t i = 1; i <= 100; ++i)
      world.deliver(1, hello_to(world, 1, i << 8 | 1));
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  world.finish(5s);
  CHECK(flooded);
}

TEST_CASE("two senders with equal tokens both connect") {
  WorldConfig config;
  config.network = single_switch(3, {});
  config.core.peer_timeout = 5s;
  World world(std::move(config));
  world.open_flow(0, 2);
  int welcomes[2] = {};
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to < 2 && is(datagram, wire::FrameType::kWelcome)) ++welcomes[to];
    return true;
  });
  for (const HostIndex from : {0u, 1u})
    world.deliver(2, hello_to(world, 1, 77, from));
  world.run_for(10ms);
  CHECK(welcomes[0] >= 1);
  CHECK(welcomes[1] >= 1);
}

TEST_CASE("a connection that is never accepted ends when its sender dies, and not before") {
  World world = two_hosts(1s);
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.flow(flow).never_accept = true;
  world.run_for(5s);
  CHECK_FALSE(world.flow(flow).send_error.has_value());
  CHECK(world.endpoint(1).connection_count() == 1);
  world.kill(0);
  world.run_for(3s);
  CHECK(world.endpoint(1).connection_count() == 0);
}

TEST_CASE("packets from another source address are counted and dropped, even with a valid tag") {
  World world = two_hosts();
  Datagram data;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to != 1 || !data.empty() || !is(datagram, wire::FrameType::kData)) return true;
    data = datagram;
    return false;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  world.run_until(world.now() + 1s, [&] { return !data.empty(); });
  world.deliver(1, data, host_of(world, 1));
  CHECK(world.endpoint(1).counters()[Counter::kDroppedForeignHost] == 1);
  CHECK(world.flow(flow).receives_done == 0);
  world.deliver(1, data, host_of(world, 0));
  CHECK(world.endpoint(1).counters()[Counter::kDroppedForeignHost] == 1);
  world.finish(5s);
}

TEST_CASE("ranks with different site secrets drop each other's packets") {
  WorldConfig config = behind_a_switch();
  config.core.peer_timeout = 1s;
  config.site_secret = [](HostIndex host) { return wire::Key{host + 1, 9}; };
  World world(std::move(config));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.run_for(3s);
  CHECK(world.flow(flow).send_error.has_value());
  CHECK(world.endpoint(1).connection_count() == 0);
  CHECK(world.endpoint(1).counters()[Counter::kDroppedUnauthentic] > 0);
}

TEST_CASE("a listener receives a refusal once, though three of four REFUSE frames are lost") {
  World world = two_hosts();
  int refusals = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    return to != 1 || !is(datagram, wire::FrameType::kRefuse) || ++refusals == 4;
  });
  const auto flow = world.open_flow(0, 1);
  world.decline(flow, {"the peer's rank may lose 0%, this one 1%"});
  const Time begin = world.now();
  world.run_until(begin + 5s, [&] { return world.flow(flow).declined.has_value(); });
  REQUIRE(world.flow(flow).declined.has_value());
  CHECK(world.now() - begin < 50ms);
  CHECK(world.flow(flow).declined->proven);
  CHECK_THAT(world.flow(flow).declined->error.message(),
             Contains("the peer refuses the connection: the peer's rank may lose 0%, this one 1%"));
  world.set_filter({});
  world.decline(flow, {"once more"});  // the ledger checks that it has no effect
  world.run_for(1s);
  CHECK(refusals == 4);
}

TEST_CASE("a refusal because of a different secret is reported, marked as unproven") {
  WorldConfig config = behind_a_switch();
  bool alike = false;
  SECTION("different secrets") {
    config.site_secret = [](HostIndex host) { return wire::Key{host + 1, 9}; };
  }
  SECTION("a secret at the sender only, for which no other proof is possible") {
    config.site_secret = [](HostIndex host) { return host == 0 ? wire::Key{1, 9} : wire::Key{}; };
    alike = true;
  }
  config.core.peer_timeout = 1s;
  World world(std::move(config));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.decline(flow, {"the peer's rank has another secret", true});
  world.run_for(100ms);
  REQUIRE(world.flow(flow).declined.has_value());
  CHECK(world.flow(flow).declined->proven == alike);
}

TEST_CASE("a REFUSE frame without the invitation's key is dropped") {
  World world = two_hosts();
  const auto flow = world.open_flow(0, 1);
  wire::Refuse refuse;
  refuse.destination = world.flow(flow).listener;
  refuse.reason = "a stranger's word";
  wire::Buffer frame;
  wire::encode(refuse, frame);
  wire::seal(frame, wire::Key{1, 2}, 0, 0);
  world.deliver(1, frame);
  CHECK(world.endpoint(1).counters()[Counter::kDroppedUnauthentic] == 1);
  CHECK_FALSE(world.flow(flow).declined.has_value());
  world.transfer(flow, 1000);
  world.finish(5s);
}
