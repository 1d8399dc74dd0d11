#include "random_world.h"

#include <array>

namespace dlcp::test {
namespace {

using namespace datapath::sim;

template <class T, std::size_t n>
T one_of(Rng& rng, const std::array<T, n>& choices) {
  return choices[rng.below(n)];
}

Duration up_to(Rng& rng, Duration limit) {
  return Duration(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(limit.count()))));
}

HostConfig random_host(Rng& rng) {
  HostConfig host;
  host.link.rate = one_of<BitsPerSecond>(
      rng, std::array<BitsPerSecond, 3>{200'000'000, 1'000'000'000, 10'000'000'000});
  host.link.delay = 500ns + up_to(rng, 30us);
  host.mtu = one_of(rng, std::array<std::size_t, 4>{1280, 1500, 4200, 9000});
  host.paths = one_of(rng, std::array<std::size_t, 4>{2, 8, 16, 64});
  host.receive_queue_bytes = std::size_t{64} << (10 + rng.below(5));
  host.nic_queue_bytes = std::size_t{32} << (10 + rng.below(3));
  return host;
}

}  // namespace

HostConfig host_at(BitsPerSecond rate, std::size_t mtu) {
  HostConfig host;
  host.link.rate = rate;
  host.link.delay = 5us;
  host.mtu = mtu;
  host.paths = 8;
  host.receive_queue_bytes = 1 << 20;
  host.nic_queue_bytes = 128 << 10;
  return host;
}

WorldConfig random_world(Rng& rng, std::uint64_t seed) {
  WorldConfig config;
  const HostConfig host = random_host(rng);
  if (rng.chance(0.3))
    config.network = leaf_spine(2, 2, 1 + rng.below(2), host, host.link);
  else
    config.network = single_switch(2 + rng.below(3), host);
  config.network.port.queue_bytes = std::size_t{32} << (10 + rng.below(4));
  config.network.port.early_bytes = config.network.port.queue_bytes / 4;
  config.network.seed = config.seed = seed;
  // Every third seed uses compression.
  config.gradients = seed % 3 == 1;
  if (config.gradients) config.core.compression = {compression::Mode::kOn, 2048};
  config.core.protection = rng.chance(0.5) ? wire::Protection::kFull : wire::Protection::kHeader;
  config.core.eager_bytes = one_of(rng, std::array<std::size_t, 3>{0, 4096, 65536});
  config.core.unposted_pool_bytes = one_of(rng, std::array<std::size_t, 2>{16384, 8 << 20});
  config.core.requests_max = 1 + rng.below(64);
  if (rng.chance(0.3)) config.host.packet_cost = up_to(rng, 3us);
  if (rng.chance(0.3)) {
    config.host.pause_every = 200us + up_to(rng, 2ms);
    config.host.pause_length = up_to(rng, 1ms);
  }
  if (rng.chance(0.3)) {
    config.host.freeze_every = 500us + up_to(rng, 5ms);
    config.host.freeze_length = up_to(rng, 3ms);
  }
  return config;
}

LinkFaults random_faults(Rng& rng, double drop_max, wire::Protection checksum) {
  LinkFaults faults;
  if (rng.chance(0.7)) faults.drop = rng.unit() * drop_max;
  if (rng.chance(0.5)) faults.duplicate = rng.unit() * 0.1;
  if (rng.chance(0.5)) {
    faults.reorder = rng.unit() * 0.5;
    faults.reorder_delay = 1us + up_to(rng, 500us);
  }
  if (rng.chance(0.5)) {
    faults.corrupt = rng.unit() * 0.05;
    if (checksum == wire::Protection::kHeader) faults.corrupt_within = 40;
  }
  return faults;
}

void run_through_storms(World& world, Rng& rng, double usual_drop) {
  const Duration storm = 20us + up_to(rng, 200us);
  world.network().set_edge_faults({.drop = usual_drop});
  for (int i = 0; i < 8 && !world.finished(); ++i) {
    world.run_for(up_to(rng, 400us));
    world.network().set_edge_faults({.drop = 0.5});
    world.run_for(storm);
    world.network().set_edge_faults({.drop = usual_drop});
  }
  world.finish(20s);
}

std::size_t random_message_bytes(Rng& rng) {
  switch (rng.below(8)) {
    case 0:
      return rng.below(2);
    case 1:
      return 127 + rng.below(3);
    case 2:
    case 3: {  // around a whole number of packets of each MTU
      const auto packet = one_of(rng, std::array<std::size_t, 4>{1152, 1408, 4096, 8832});
      return (1 + rng.below(20)) * packet + rng.below(3) - 1;
    }
    case 4:
      return rng.below(2048);
    case 5:
    case 6:
      return rng.below(64 << 10);
    default:
      return rng.chance(0.2) ? rng.below(512 << 10) : 128 * rng.below(512);
  }
}

void add_random_traffic(World& world, Rng& rng) {
  const std::size_t flows = 1 + rng.below(3);
  for (std::size_t i = 0; i < flows; ++i) {
    const auto hosts = world.network().host_count();
    const auto from = static_cast<HostIndex>(rng.below(hosts));
    const auto to = static_cast<HostIndex>((from + 1 + rng.below(hosts - 1)) % hosts);
    const std::size_t flow = world.open_flow(from, to);
    world.flow(flow).close_when_done = rng.chance(0.5);
    const std::size_t messages = rng.below(10);
    Time send_at{};
    Time receive_at{};
    for (std::size_t k = 0; k < messages; ++k) {
      send_at += rng.chance(0.3) ? up_to(rng, 2ms) : 0ns;
      receive_at += rng.chance(0.3) ? up_to(rng, 2ms) : 0ns;
      const std::size_t spare = rng.chance(0.3) ? rng.below(5000) : 0;
      world.transfer(flow, random_message_bytes(rng), send_at, receive_at, spare);
    }
  }
}

}  // namespace dlcp::test
