// Messages that are compressed packet by packet. The ledger checks every byte, and that no byte is
// written twice or after its message is complete. The seeds of all other tests use compression too.
#include "content.h"
#include "random_world.h"
#include "seeds.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using CompressionMode = compression::Mode;
using core::Counter;

namespace {

WorldConfig two_hosts(std::uint64_t seed, CompressionMode mode, BitsPerSecond rate) {
  WorldConfig config;
  HostConfig host{.mtu = 1500, .paths = 8};
  host.link.rate = rate;
  config.network = single_switch(2, host);
  config.network.seed = config.seed = seed;
  config.gradients = true;
  config.core.compression.mode = mode;
  config.core.requests_max = 8;
  return config;
}

// How long `messages` messages of 256 KiB take.
Duration time_of(WorldConfig config, std::size_t messages, double* ratio = nullptr) {
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  for (std::size_t k = 0; k < messages; ++k)
    world.transfer(flow, 256 << 10);
  world.finish(60s);
  if (ratio != nullptr)
    *ratio = static_cast<double>(world.sum(Counter::kBytesCompressed)) /
             static_cast<double>(world.sum(Counter::kBytesCompressedWire));
  return world.ledger().last_done_at() - Time{};
}

}  // namespace

TEST_CASE("gradients cross a slow link faster when they are compressed") {
  double ratio = 0;
  const Duration off = time_of(two_hosts(3, CompressionMode::kOff, 1'000'000'000), 200);
  const Duration on = time_of(two_hosts(3, CompressionMode::kOn, 1'000'000'000), 200, &ratio);
  const Duration by_itself = time_of(two_hosts(3, CompressionMode::kAuto, 1'000'000'000), 200);
  INFO("off " << off.count() << " ns, on " << on.count() << " ns, auto " << by_itself.count());
  INFO("ratio " << ratio);
  REQUIRE(ratio > 1.3);
  REQUIRE(on * 1.25 < off);
  REQUIRE(by_itself * 1.15 < off);
}

TEST_CASE("random bytes are sent uncompressed") {
  auto config = two_hosts(5, CompressionMode::kOn, 1'000'000'000);
  config.gradients = false;
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 20; ++k)
    world.transfer(flow, 256 << 10);
  world.finish(60s);
  REQUIRE(world.sum(Counter::kBytesSent) >= 20u * (256 << 10));
  REQUIRE(world.sum(Counter::kBytesCompressed) == 0);
}

TEST_CASE("gradients are compressed although other messages before them were not compressible") {
  World world(two_hosts(5, CompressionMode::kAuto, 1'000'000'000));
  const auto noise = world.open_flow(0, 1), gradients = world.open_flow(0, 1);
  constexpr std::size_t kBytes = 256 << 10;
  std::size_t offset = 0;
  const auto send = [&](std::size_t flow, const std::vector<std::byte>& pattern) {
    world.transfer_later(flow, kBytes);
    const std::size_t number = world.flow(flow).messages.size() - 1;
    world.provide(flow, number, std::span(pattern).subspan(offset, kBytes));
    offset = (offset + kBytes) % kPatternBytes;
  };
  for (int k = 0; k < 400; ++k)
    send(noise, random_pattern());
  world.finish(60s);
  REQUIRE(world.sum(Counter::kBytesCompressed) == 0);
  for (int k = 0; k < 400; ++k) {
    send(noise, random_pattern());
    send(gradients, gradient_pattern());
  }
  world.finish(60s);
  REQUIRE(world.sum(Counter::kBytesCompressed) > 200 * kBytes);
}

TEST_CASE("if the network is faster than the processor, messages are not compressed") {
  auto config = two_hosts(7, CompressionMode::kAuto, 100'000'000'000);
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 200; ++k)
    world.transfer(flow, 1 << 20);
  world.finish(60s);
  REQUIRE(world.sum(Counter::kBytesCompressed) < 20u << 20);
}

TEST_CASE("compressed messages survive loss, duplicates, reordering and corruption") {
  std::uint64_t compressed = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    auto config = two_hosts(seed, CompressionMode::kOn, 10'000'000'000);
    config.core.compression.message_bytes_min = 1000;
    config.core.eager_bytes = seed % 3 * 4096;
    config.core.protection =
        std::array{wire::Protection::kHeader, wire::Protection::kFull}[seed % 2];
    World world(std::move(config));
    Rng rng(seed);
    world.network().set_edge_faults(random_faults(rng, 0.2, world.endpoint(0).config().protection));
    const auto flow = world.open_flow(0, 1);
    for (std::size_t k = 0; k < 12; ++k) {
      const Time receive_at = k % 3 == 0 ? time_from_ns(2'000'000 * k) : Time{};
      world.transfer(flow, 1000 + rng.below(200 << 10), Time{}, receive_at);
    }
    world.finish(60s);
    compressed += world.sum(Counter::kBytesCompressed) > 0 ? 1 : 0;
  });
  // One seed in a thousand has random words where messages are sampled.
  if (std::getenv("DLCP_SEED") == nullptr) REQUIRE(compressed > 0);
}

TEST_CASE("compressed messages continue when the MTU shrinks, and when it grows") {
  for_each_seed(
      8,
      [](std::uint64_t seed) {
        World world(two_hosts(seed, CompressionMode::kOn, 1'000'000'000));
        const auto set_mtu = [&](std::size_t mtu) {
          for (const HostIndex host : {0u, 1u}) {
            Link& link = world.network().to_host(host).link();
            LinkConfig config = link.config();
            config.mtu = mtu;
            link.set_config(config);
          }
        };
        const auto flow = world.open_flow(0, 1);
        for (std::size_t k = 0; k < 200; ++k)
          world.transfer(flow, 512 << 10);
        world.run_for(50ms);
        set_mtu(1300);
        world.run_for(2s);
        set_mtu(1500);
        world.finish(60s);
      });
}

TEST_CASE("a damaged compressed packet is dropped and sent again") {
  auto config = two_hosts(11, CompressionMode::kOn, 1'000'000'000);
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  std::size_t damaged = 0;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    const auto data = wire::decode_data(datagram);
    if (!data || !data->header.coding.used() || data->header.retransmission) return true;
    if (data->header.coding.coded_bytes == data->header.coding.plain_bytes) return true;
    if (++damaged % 50 == 0)
      datagram[wire::kCodedHeaderBytes] = std::byte{0xee};  // an unknown format
    return true;
  });
  for (std::size_t k = 0; k < 20; ++k)
    world.transfer(flow, 256 << 10);
  world.finish(60s);
  REQUIRE(world.sum(Counter::kDroppedUndecodable) > 10);
}
