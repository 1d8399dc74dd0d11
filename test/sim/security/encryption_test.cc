// Connections whose payloads are encrypted: every byte arrives, no byte can be read or changed on
// the way, no nonce is used twice, and ranks with different settings refuse each other.
#include <algorithm>

#include "catch.h"
#include "random_world.h"
#include "seeds.h"
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
    encrypt(config.core);
    return config;
  }
  void encrypt(core::Config& config) const {
    config.peer_timeout = 5s;
    config.protection = wire::Protection::kEncrypted;
    config.ciphers = ciphers;
  }
  // Each packet was sealed, with a nonce of its own.
  void check(World& world) const { CHECK(ciphers->sealed() == world.sum(Counter::kPacketsSent)); }
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
  encrypted.check(world);
}

TEST_CASE("encryption works with compression, lost packets within budgets, and several streams") {
  std::uint64_t compressed = 0, lost = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    Rng rng(seed);
    Encrypted encrypted;
    WorldConfig config = random_world(rng, seed);
    config.core.licence_bytes_min = 4096;
    encrypted.encrypt(config.core);
    World world(std::move(config));
    world.network().set_edge_faults(random_faults(rng, 0.1, wire::Protection::kEncrypted));
    for (int i = 0; i < 3; ++i)
      add_random_traffic(world, rng);
    for (Flow& flow : world.ledger().flows()) {
      std::uint64_t collective = 0;
      for (Message& message : flow.messages) {
        if (rng.chance(0.5)) continue;
        message.send_licence = message.receive_licence = {
            ++collective, 4 << 20, 4, 4, 0, 50'000, gradient::ElementType::kFloat32};
      }
    }
    world.finish(60s);
    encrypted.check(world);
    compressed += world.sum(Counter::kBytesCompressed);
    lost += world.sum(Counter::kBytesLost);
  });
  CHECK(compressed > 0);
  CHECK(lost > 0);
}

TEST_CASE("an encrypted association that is made again has other keys") {
  Encrypted encrypted;
  WorldConfig config = encrypted.config();
  config.core.peer_timeout = 2s;
  World world(std::move(config));
  world.ledger().allow_failures();
  const auto first = world.open_flow(0, 1, 1);
  world.transfer(first, 100'000);
  world.run_until(world.now() + 1s, [&] { return world.flow(first).sends_done == 1; });
  world.close_receiver(first);
  world.run_for(10s);  // its sender stays open, but the receiver forgets the association
  const auto second = world.open_flow(0, 1, 2), third = world.open_flow(0, 1, 3);
  world.transfer(second, 100'000);
  world.transfer(third, 100'000);
  world.run_until(world.now() + 3s, [&] {
    return world.flow(second).receives_done == 1 && world.flow(third).receives_done == 1;
  });
  INFO(world.describe());
  CHECK(world.flow(second).receives_done == 1);
  CHECK(world.flow(third).receives_done == 1);
  encrypted.check(world);
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
