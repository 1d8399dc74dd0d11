// Worlds, faults and traffic drawn from a seed: short tests that differ in every parameter. Also
// the plainest world, for tests of one connection.
#pragma once

#include "world.h"

namespace dlcp::test {

// Two hosts behind one switch, with the usual settings.
inline WorldConfig behind_a_switch(std::uint64_t seed = 1) {
  WorldConfig config;
  config.network = datapath::sim::single_switch(2, {});
  config.network.seed = config.seed = seed;
  return config;
}

// A host 5 us from its switch, with eight paths.
datapath::sim::HostConfig host_at(datapath::sim::BitsPerSecond rate, std::size_t mtu = 1500);

// Two to four hosts behind one switch or on a small leaf-spine fabric.
WorldConfig random_world(Rng& rng, std::uint64_t seed);

// For the network's edge (Network::set_edge_faults): loss up to `drop_max`, duplicates, reordering,
// black holes; corruption only if the protocol's checksum covers all bytes.
datapath::sim::LinkFaults random_faults(Rng& rng, double drop_max, wire::Protection checksum);

// Runs the world until all is done, at most 20 s after the storms: some bursts in which half of all
// packets at the network's edge are lost, and a share of `usual_drop` between and after them.
void run_through_storms(World& world, Rng& rng, double usual_drop);

// 0, 1, sizes around cache lines and packets, a few packets, and sometimes a few hundred KiB.
std::size_t random_message_bytes(Rng& rng);

// One to three connections between random hosts, each with messages posted at random moments.
void add_random_traffic(World& world, Rng& rng);

}  // namespace dlcp::test
