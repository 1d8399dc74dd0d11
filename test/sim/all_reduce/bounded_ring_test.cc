// Whole all-reduces with bounded loss on the simulated network: the results on every rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bounded_loss/licence.h"
#include "random_world.h"
#include "ring_reduce.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using core::Counter;

namespace {

WorldConfig world_of(std::uint32_t ranks, std::size_t mtu, std::uint64_t seed) {
  WorldConfig config;
  config.network = datapath::sim::single_switch(ranks, host_at(10'000'000'000, mtu));
  config.network.port.queue_bytes = 256 << 10;
  config.network.port.early_bytes = 64 << 10;
  config.network.seed = config.seed = seed;
  return config;
}

void run_stormy(World& world, Rng& rng) {
  run_through_storms(world, rng, rng.chance(0.3) ? 0 : 0.01 * rng.unit());
}

void check_identical(const RingReduce& ring, std::uint32_t ranks) {
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const auto& mine = ring.result(rank);
    if (mine.size() != ring.result(0).size() ||
        std::memcmp(mine.data(), ring.result(0).data(), mine.size() * 4) != 0)
      throw Violation(fmt::format("rank {} holds another result than rank 0", rank));
  }
}

// If all contributions are ones, the shortfall of the sum is the loss.
double missing_share(const RingReduce& ring, std::uint32_t ranks) {
  double sum = 0;
  for (const float value : ring.result(0))
    sum += static_cast<double>(value);
  return 1 - sum / (static_cast<double>(ring.result(0).size()) * ranks);
}

// Small in most places and large in a few, and different for every rank and collective.
float gradient_at(std::uint32_t rank, std::uint32_t collective, std::size_t at) {
  const std::uint64_t mixed = datapath::sim::mix(rank * 1000 + collective, at);
  const float scale = at / 512 % 4 == 0 ? 1.0f : 1e-3f;
  return scale * (static_cast<float>(mixed % 20001) / 10000.0f - 1.0f);
}

struct Story {
  RingPlan plan;
  std::size_t mtu = 1500;
};

Story story_of(Rng& rng, std::uint64_t seed) {
  Story story;
  RingPlan& plan = story.plan;
  plan.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
  if (seed % 25 == 0) plan.ranks = 16 + static_cast<std::uint32_t>(rng.below(17));
  if (seed % 100 == 0) plan.ranks = 64;
  story.mtu = plan.ranks > 8 || rng.chance(0.5) ? 9000 : 1500;
  plan.part_floats = (16 + rng.below(plan.ranks > 8 ? 1 : 17)) << 10;
  plan.budget_ppm = 1000 * static_cast<std::uint32_t>(1 + rng.below(200));
  plan.collectives = plan.ranks > 8 ? 1 : 2;
  return story;
}

}  // namespace

TEST_CASE("under heavy loss all ranks of a licensed ring have the same bits, and lack at most P") {
  std::uint64_t lost = 0;
  std::uint64_t repaired = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    Rng rng(seed);
    const auto [plan, mtu] = story_of(rng, seed);
    World world(world_of(plan.ranks, mtu, seed));
    const bool ones = rng.chance(0.5);
    RingReduce ring(world, plan, [&](auto rank, auto collective, auto at) {
      return ones ? 1.0f : gradient_at(rank, collective, at);
    });
    // Exact messages on the same paths; the world checks every byte of them.
    const std::size_t beside = world.open_flow(0, 1);
    for (int i = 0; i < 10; ++i)
      world.transfer(beside, random_message_bytes(rng));
    run_stormy(world, rng);
    check_identical(ring, plan.ranks);
    const double allowed = static_cast<double>(plan.budget_ppm) / core::kBudgetScale;
    for (std::uint32_t collective = 0; collective < plan.collectives; ++collective)
      if (ring.lost_share(collective) > allowed)
        throw Violation(fmt::format("a share of {} lost", ring.lost_share(collective)));
    if (ones) {
      const double missing = missing_share(ring, plan.ranks);
      if (missing > allowed) throw Violation(fmt::format("a share of {} is missing", missing));
      // A contribution lost twice on its way is counted twice.
      const double counted = ring.lost_share(plan.collectives - 1);
      if (missing > counted + 1e-9 || (missing < 1e-12) != (counted == 0))
        throw Violation(fmt::format("{} missing, {} counted", missing, counted));
    }
    lost += ring.lost_bytes();
    repaired += world.sum(Counter::kNeedsSent);
  });
  CHECK(lost > 0);
  CHECK(repaired > 0);
}

TEST_CASE("early drop removes small values: the sum's error is smaller than the lost share") {
  RingPlan plan;
  plan.ranks = 4;
  plan.part_floats = 64 << 10;
  plan.budget_ppm = 100'000;
  double squares = 0;
  double energy = 0;
  double lost = 0;
  std::uint64_t told = 0;  // bytes lost that senders have been told of
  std::uint64_t untold = 0;
  constexpr std::uint64_t kSeeds = 10;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WorldConfig config = world_of(plan.ranks, 1500, seed);
    config.network.port.early_bytes = 8 << 10;
    World world(config);
    for (HostIndex host = 0; host < plan.ranks; ++host) {
      auto link = config.network.hosts[host].link;
      link.rate = 2'000'000'000;
      world.network().to_host(host).link().set_config(link);
    }
    RingReduce ring(world, plan, gradient_at);
    world.finish(20s);
    check_identical(ring, plan.ranks);
    for (std::size_t at = 0; at < ring.result(0).size(); ++at) {
      double exact = 0;
      for (std::uint32_t rank = 0; rank < plan.ranks; ++rank)
        exact += static_cast<double>(gradient_at(rank, 0, at));
      squares += std::pow(static_cast<double>(ring.result(0)[at]) - exact, 2);
      energy += exact * exact;
    }
    lost += ring.lost_share(0) / kSeeds;
    const auto small =
        world.sum(Counter::kLostBulkDroppable) + world.sum(Counter::kLostUrgentDroppable);
    const auto large =
        world.sum(Counter::kLostBulkProtected) + world.sum(Counter::kLostUrgentProtected);
    CHECK(small + large <= world.sum(Counter::kBytesLost));  // a STOP may be lost
    told += small + large;
    untold += world.sum(Counter::kBytesLost) - small - large;
    CHECK(small > 4 * large);
  }
  // Losses that ignore magnitudes cost the same share of the sum's energy as of its bytes.
  fmt::print("early drop: a share of {:.4f} lost, relative MSE {:.2e}\n", lost, squares / energy);
  REQUIRE(lost > 0.001);
  CHECK(told > 9 * untold);
  CHECK(squares / energy < 0.5 * lost);
}
