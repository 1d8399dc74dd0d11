// Connections whose payloads are encrypted: every byte arrives, no byte can be read or changed on
// the way, no nonce is used twice, and ranks with different settings refuse each other.
#include <algorithm>

#include "catch.h"
#include "random_world.h"
#include "toy_cipher.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;

struct Encrypted {
  std::shared_ptr<ToyCiphers> ciphers = std::make_shared<ToyCiphers>();

  WorldConfig config() const {
    WorldConfig config = behind_a_switch();
    config.core.peer_timeout = 5s;
    config.core.protection = wire::Protection::kEncrypted;
    config.core.ciphers = ciphers;
    return config;
  }
};

}  // namespace

TEST_CASE("encrypted messages arrive, whatever the network does, and no nonce is used twice") {
  Encrypted encrypted;
  WorldConfig config = encrypted.config();
  const std::size_t mtu = GENERATE(9000u, 1500u);
  for (HostConfig& host : config.network.hosts)
    host.mtu = mtu;
  World world(std::move(config));
  LinkFaults faults;
  faults.drop = 0.02;
  faults.duplicate = 0.02;
  faults.corrupt = 0.02;
  faults.reorder = 0.05;
  world.network().set_edge_faults(faults);
  const auto flow = world.open_flow(0, 1);
  for (const std::size_t bytes : {0u, 1u, 1408u, 1'000'000u, 3'000'000u})
    world.transfer(flow, bytes);
  world.finish(60s);
  CHECK(world.sum(Counter::kPacketsRetransmitted) > 0);
  CHECK(encrypted.ciphers->sealed() == world.sum(Counter::kPacketsSent));
}

TEST_CASE("no part of a message is readable on the way") {
  Encrypted encrypted;
  World world(encrypted.config());
  const Datagram secret(64, std::byte{0x5c});
  std::size_t seen = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 1 && wire::decode_data(datagram)) {
      ++seen;
      const Datagram clear(16, std::byte{0x5c});
      CHECK(std::search(datagram.begin(), datagram.end(), clear.begin(), clear.end()) ==
            datagram.end());
    }
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer_later(flow, 64);
  world.provide(flow, 0, secret);
  world.finish(5s);
  CHECK(seen > 0);
}

TEST_CASE("a packet with a changed payload or tag is dropped and sent again") {
  Encrypted encrypted;
  World world(encrypted.config());
  std::size_t touched = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 1 && touched < 3 && wire::decode_data(datagram)) {
      const std::size_t at[] = {wire::kDataHeaderBytes, datagram.size() - 17, datagram.size() - 1};
      datagram[at[touched++]] ^= std::byte{1};
    }
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 100'000);
  world.finish(5s);
  CHECK(touched == 3);
  CHECK(world.endpoint(1).counters()[Counter::kDroppedUnauthentic] == 3);
}

TEST_CASE("packets shrink with the path's MTU although each carries a tag") {
  Encrypted encrypted;
  WorldConfig config = encrypted.config();
  for (HostConfig& host : config.network.hosts)
    host.mtu = 9000;
  World world(std::move(config));
  std::size_t largest = 65'536;
  world.set_filter([&](HostIndex, Datagram& datagram) { return datagram.size() <= largest; });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1'000'000);
  world.run_until(world.now() + 5s, [&] { return world.flow(flow).sends_done == 1; });
  largest = 1452;  // IPv6 at an MTU of 1500
  world.transfer(flow, 3'000'000);
  world.finish(20s);
}

TEST_CASE("a rank with encryption and one without refuse each other") {
  Encrypted encrypted;
  const HostIndex encrypts = GENERATE(0u, 1u);
  WorldConfig config = encrypted.config();
  config.adjust = [&](HostIndex host, core::Config& of) {
    if (host == encrypts) return;
    of.protection = wire::Protection::kFull;
    of.ciphers = nullptr;
  };
  World world(std::move(config));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.run_until(world.now() + 10s, [&] { return world.flow(flow).send_error.has_value(); });
  REQUIRE(world.flow(flow).send_error.has_value());
  CHECK_THAT(world.flow(flow).send_error->message(), Contains("encrypts payloads (DLCP_ENCRYPT)"));
  CHECK(world.endpoint(1).connection_count() == 0);
}
