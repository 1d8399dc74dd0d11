// Prints the event hash of each of N simulated runs, to check that a change has no effect on
// behaviour: run it before and after the change, and compare. A hash covers every packet's time,
// path and content, and every completion.
//
//   event_hashes [N]     default 300: seeds 1 to N of each kind of run
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "byte_network.h"
#include "random_world.h"
#include "util/rng.h"

namespace dlcp::test {
namespace {

std::uint64_t world_story(std::uint64_t seed, double drop_max, bool licensed) {
  Rng rng(seed);
  WorldConfig config = random_world(rng, seed);
  if (licensed) config.core.licence_bytes_min = 1 + rng.below(4096);
  World world(std::move(config));
  const auto checksum = world.endpoint(0).config().protection;
  if (drop_max > 0) world.network().set_edge_faults(random_faults(rng, drop_max, checksum));
  add_random_traffic(world, rng);
  std::uint64_t collective = 0;
  for (Flow& flow : world.ledger().flows()) {
    for (Message& message : flow.messages) {
      if (!licensed || rng.chance(0.2)) continue;
      message.send_licence.collective = ++collective;
      message.send_licence.result_bytes = std::uint64_t{4} << 20;
      message.send_licence.ranks = message.send_licence.hops = 4;
      message.send_licence.stage = static_cast<std::uint32_t>(rng.below(3));
      message.send_licence.budget_ppm = 50'000;
      message.send_licence.element = gradient::ElementType::kFloat32;
      message.receive_licence = message.send_licence;
    }
  }
  world.finish(60s);
  return world.event_hash();
}

// Forged packets, replays, and connections that fail.
std::uint64_t hostile_story(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint8_t> bytes(1, 1);
  const std::size_t length = 60 + rng.below(300);
  while (bytes.size() < length)
    bytes.push_back(static_cast<std::uint8_t>(rng.next()));
  FuzzInput input(bytes.data(), bytes.size());
  ByteNetwork network(input);
  network.run();
  return network.event_hash();
}

std::uint64_t story(const char* kind, std::uint64_t seed) {
  switch (kind[0]) {
    case 'c':
      return world_story(seed, 0, false);
    case 'f':
      return world_story(seed, 0.2, false);
    case 'l':
      return world_story(seed, 0.1, true);
    default:
      return hostile_story(seed);
  }
}

}  // namespace
}  // namespace dlcp::test

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  for (const char* kind : {"clean", "faults", "licensed", "hostile"}) {
    std::uint64_t all = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      try {
        const std::uint64_t hash = dlcp::test::story(kind, seed);
        all = dlcp::datapath::sim::mix(all, hash);
        fmt::print("{} {} {:016x}\n", kind, seed, hash);
      } catch (const std::exception& violation) {
        fmt::print("{} {} fails: {}\n", kind, seed, violation.what());
        return 1;
      }
    }
    fmt::print("{} all {:016x}\n", kind, all);
  }
  return 0;
}
