// Worlds of hosts whose cards place data.
#pragma once

#include "random_world.h"

namespace dlcp::test {

inline datapath::sim::CardConfig random_card(Rng& rng) {
  datapath::sim::CardConfig card;
  card.grant_delay = Duration(static_cast<std::int64_t>(rng.below(5'000)));
  card.revoke_delay =
      Duration(static_cast<std::int64_t>(rng.below(rng.chance(0.3) ? 300'000 : 5'000)));
  if (rng.chance(0.5)) card.write_time_max = 50us;
  if (rng.chance(0.2)) card.refused = 0.3;
  if (rng.chance(0.2)) card.receives_per_path = 8;
  return card;
}

inline std::uint64_t placed(World& world) {
  std::uint64_t total = 0;
  for (datapath::sim::HostIndex host = 0; host < world.network().host_count(); ++host)
    if (const datapath::sim::SimPlacer* card = world.network().host(host).card())
      total += card->counters().bytes_placed;
  return total;
}

// Two hosts with cards, and messages of `bytes` from the first to the second.
inline WorldConfig two_hosts(const datapath::sim::CardConfig& card, std::uint64_t seed = 1) {
  datapath::sim::HostConfig host;
  host.mtu = 4200;
  host.card = card;
  WorldConfig config;
  config.network = datapath::sim::single_switch(2, host);
  config.network.seed = config.seed = seed;
  return config;
}

inline std::size_t add_messages(World& world, std::size_t count, std::size_t bytes,
                                core::ContextId context = 1) {
  const std::size_t flow = world.open_flow(0, 1, context);
  for (std::size_t i = 0; i < count; ++i)
    world.transfer(flow, bytes);
  return flow;
}

// 5% of the packets are late by up to 100 ms.
inline constexpr datapath::sim::LinkFaults kVeryLate{
    .drop = 0.01, .reorder = 0.05, .reorder_delay = 100ms};

}  // namespace dlcp::test
