// Paths whose MTU changes while a job runs, because a route moves or a tunnel starts. Packets
// larger than the new MTU are lost silently, while control frames pass.
#include "random_world.h"
#include "seeds.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

WorldConfig two_hosts(std::uint64_t seed, std::size_t mtu, std::size_t paths = 4) {
  WorldConfig config;
  HostConfig host{.mtu = mtu, .paths = paths};
  host.link.rate = 100'000'000;
  host.link.mtu = 9000;
  config.network = single_switch(2, host);
  config.network.seed = config.seed = seed;
  return config;
}

void set_mtu(World& world, std::size_t mtu) {
  for (const HostIndex host : {0u, 1u}) {
    Link& link = world.network().to_host(host).link();
    LinkConfig config = link.config();
    config.mtu = mtu;
    link.set_config(config);
  }
}

// The time until `bytes` more have been placed at the host.
Duration time_to_place(World& world, HostIndex host, std::uint64_t bytes) {
  const Time from = world.now();
  const std::uint64_t before = world.ledger().placed_bytes(host);
  world.run_until(from + 20s, [&] { return world.ledger().placed_bytes(host) >= before + bytes; });
  return world.now() - from;
}

std::size_t largest_data(World& world, Duration within) {
  std::size_t largest = 0;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    if (wire::decode_data(datagram)) largest = std::max(largest, datagram.size());
    return true;
  });
  world.run_for(within);
  world.set_filter({});
  return largest;
}

}  // namespace

TEST_CASE("a job continues within a second when the MTU shrinks, and when it grows") {
  for_each_seed(
      4,
      [](std::uint64_t seed) {
        World world(two_hosts(seed, 9000));
        const auto flow = world.open_flow(0, 1);
        for (int k = 0; k < 500; ++k)
          world.transfer(flow, 256 << 10);
        world.run_for(100ms);
        REQUIRE(largest_data(world, 20ms) == 8832 + wire::kDataHeaderBytes);
        struct Step {
          std::size_t mtu;
          std::size_t datagram_max;  // payloads of 1408, 1152, ..., and headers
        };
        for (const Step step : {Step{1500, 1452},
                                {1280, 1196},
                                {9000, 8876},
                                {4200, 4140},
                                {1450, 1324},
                                {9000, 8876}}) {
          CAPTURE(step.mtu);
          set_mtu(world, step.mtu);
          const Duration recovered = time_to_place(world, 1, 256 << 10);
          INFO("256 KiB placed after " << recovered.count() / 1000 << " us");
          REQUIRE(recovered <= 1s);
          world.run_for(1s - recovered);
          REQUIRE(largest_data(world, 50ms) == step.datagram_max);
          const std::uint64_t before = world.ledger().placed_bytes(1);
          world.run_for(100ms);
          REQUIRE(world.ledger().placed_bytes(1) - before >= 150'000);
        }
        world.finish(60s);
      });
}

TEST_CASE("64 streams survive an MTU of 576, whether they transfer or wait") {
  auto hosts = two_hosts(1, 1500);
  hosts.core.peer_timeout = 2s;
  World world(std::move(hosts));
  std::vector<std::size_t> flows;
  for (int i = 0; i < 64; ++i)
    flows.push_back(world.open_flow(0, 1));
  for (const std::size_t flow : flows)
    world.transfer(flow, 1000);
  world.finish(1s);
  set_mtu(world, 576);
  for (const std::size_t flow : flows)
    world.transfer(flow, 1000, world.now() + 6s);  // the receives are posted at once
  world.run_for(5s);
  world.transfer(flows[0], 1'000'000);
  world.finish(20s);
}

TEST_CASE("messages in flight when the MTU shrinks arrive complete, and no byte is written twice") {
  for_each_seed(
      40,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(two_hosts(seed, 9000, 1 + rng.below(8)));
        world.network().set_edge_faults({.drop = 0.05 * rng.unit(),
                                         .duplicate = 0.05 * rng.unit(),
                                         .reorder = 0.1 * rng.unit()});
        const auto flow = world.open_flow(0, 1);
        const auto back = world.open_flow(1, 0);
        for (int k = 0; k < 20; ++k) {
          const Time posted = time_from_ns(static_cast<std::int64_t>(rng.below(400)) * 1'000'000);
          world.transfer(flow, rng.below(300'000), {}, posted);
          world.transfer(back, 1 + 128 * rng.below(1000));
        }
        for (int change = 0; change < 6; ++change) {
          world.run_for(Duration(static_cast<std::int64_t>(rng.below(200'000'000))));
          set_mtu(world, std::array<std::size_t, 4>{1280, 1500, 4200, 9000}[rng.below(4)]);
        }
        world.finish(20s);
      });
}

TEST_CASE("licensed messages in flight when the MTU shrinks stay within their budget") {
  for_each_seed(
      10,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(two_hosts(seed, 9000));
        world.network().set_edge_faults({.drop = 0.01});
        const auto flow = world.open_flow(0, 1);
        for (std::uint64_t k = 1; k <= 20; ++k) {
          Message& message = world.transfer(flow, 256 << 10);
          core::Licence licence;
          licence.collective = k;
          licence.budget_ppm = 20'000;
          licence.ranks = 4;
          licence.hops = 4;
          licence.element = gradient::ElementType::kFloat32;
          message.send_licence = message.receive_licence = licence;
        }
        for (const std::size_t mtu : {1500, 9000, 1280, 9000, 4200}) {
          world.run_for(Duration(static_cast<std::int64_t>(rng.below(60'000'000))));
          set_mtu(world, mtu);
        }
        world.finish(20s);
      });
}

TEST_CASE("loss and silence do not make packets smaller") {
  for_each_seed(
      10,
      [](std::uint64_t seed) {
        World world(two_hosts(seed, 9000));
        const auto flow = world.open_flow(0, 1);
        for (int k = 0; k < 100; ++k)
          world.transfer(flow, 100'000);
        world.run_for(20ms);
        world.network().set_edge_faults({.drop = 0.1});
        world.network().add_outage(time_from_ns(50'000'000), time_from_ns(1'000'000'000));
        std::size_t smallest = 1 << 20;
        world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
          const auto data = wire::decode_data(datagram);
          const bool end = !data || data->header.offset + data->payload.size() == 100'000;
          if (!end) smallest = std::min(smallest, data->payload.size());
          return true;
        });
        world.finish(60s);
        REQUIRE(smallest == 8832);
      });
}
