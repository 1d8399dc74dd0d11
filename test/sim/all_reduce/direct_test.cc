// All-reduces by direct exchange on the simulated network: the results on every rank, and the time
// compared with a ring.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "direct_reduce.h"
#include "random_world.h"
#include "ring_reduce.h"
#include "sanitized.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using collective::LossFill;

namespace {

WorldConfig world_of(std::uint32_t ranks, std::size_t mtu, std::uint64_t seed,
                     std::uint64_t gbit_per_s = 10) {
  auto host = host_at(gbit_per_s * 1'000'000'000, mtu);
  host.receive_queue_bytes = 4 << 20;
  host.nic_queue_bytes = 256 << 10;
  WorldConfig config;
  config.network = datapath::sim::single_switch(ranks, host);
  config.network.port.queue_bytes = 512 << 10;
  config.network.seed = config.seed = seed;
  return config;
}

float value_at(std::uint32_t rank, std::uint32_t call, std::size_t at) {
  return static_cast<float>(datapath::sim::mix(rank * 1000 + call, at) % 20001) / 10000.0f - 1.0f;
}

using Value = float (*)(std::uint32_t rank, std::uint32_t call, std::size_t at);

void check_results(const DirectReduce& direct, const DirectPlan& plan, Value value = value_at) {
  for (std::uint32_t call = 0; call < plan.calls; ++call) {
    std::vector<float> sum(plan.floats);
    for (std::size_t at = 0; at < plan.floats; ++at) {
      sum[at] = value(0, call, at);
      for (std::uint32_t rank = 1; rank < plan.ranks; ++rank)
        sum[at] += value(rank, call, at);
    }
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank)
      if (direct.result(rank, call) != sum)
        throw Violation(fmt::format("rank {} holds a wrong result of call {}", rank, call));
  }
}

// If all contributions are ones, missing contributions are visible, and rescaled sums are complete.
void check_ones(const DirectReduce& direct, const DirectPlan& plan, std::uint32_t call) {
  const auto& result = direct.result(0, call);
  double missing = 0;
  for (const float sum : result) {
    // A hub contributes nothing itself, so all contributions may be lost, and nothing is left to
    // rescale.
    if (plan.hubs > 0 && plan.fill == LossFill::kRescale && sum == 0) continue;
    if (sum > static_cast<float>(plan.ranks) * 1.000001f || (plan.hubs == 0 && sum < 1))
      throw Violation(fmt::format("a sum of {} over {} ranks", sum, plan.ranks));
    missing += plan.ranks - static_cast<double>(sum);
  }
  missing /= static_cast<double>(plan.floats) * plan.ranks;
  const double expected = plan.fill == LossFill::kZero ? direct.lost_share(call) : 0;
  if (std::abs(missing - expected) > 1e-6)
    throw Violation(fmt::format("a share of {} is missing, {} were lost", missing, expected));
  for (std::uint32_t rank = 1; rank < plan.ranks; ++rank)
    if (std::memcmp(direct.result(rank, call).data(), result.data(), result.size() * 4) != 0)
      throw Violation(fmt::format("rank {} holds other bits than rank 0", rank));
}

// The median over all calls except the first, which opens the windows.
double median_us(std::uint32_t calls, const std::function<Duration(std::uint32_t)>& took) {
  std::vector<double> times;
  for (std::uint32_t call = 1; call < calls; ++call)
    times.push_back(static_cast<double>(took(call).count()) / 1000);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

TEST_CASE("every rank has the sum in rank order, whatever the network does") {
  for_each_seed(
      60,
      [](std::uint64_t seed) {
        Rng rng(seed);
        DirectPlan plan;
        plan.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
        plan.floats = 1 + rng.below(rng.chance(0.3) ? 400 : 40'000);
        plan.calls = 1 + static_cast<std::uint32_t>(rng.below(4));
        plan.hubs = seed % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(rng.below(3));
        World world(world_of(plan.ranks + plan.hubs, rng.chance(0.5) ? 1500 : 9000, seed));
        datapath::sim::LinkFaults faults;
        faults.drop = rng.chance(0.3) ? 0 : 0.05 * rng.unit();
        faults.duplicate = rng.chance(0.5) ? 0 : 0.05 * rng.unit();
        world.network().set_edge_faults(faults);
        DirectReduce direct(world, plan, value_at);
        if (!world.run_until(
                world.now() + 20s, [&] { return direct.finished(); }))
          throw Violation("not finished in time\n" + world.describe());
        check_results(direct, plan);
      });
}

TEST_CASE("compressed contributions give the same sums, with fewer bytes on the wire") {
  for_each_seed(
      20,
      [](std::uint64_t seed) {
        Rng rng(seed);
        DirectPlan plan;
        plan.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
        plan.floats = 20'000 + rng.below(40'000);
        plan.calls = 3;
        plan.hubs = seed % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(rng.below(3));
        WorldConfig config = world_of(plan.ranks + plan.hubs, 1500, seed);
        config.core.compression = {compression::Mode::kOn, 2048};
        World world(std::move(config));
        world.network().set_edge_faults({.drop = 0.02 * rng.unit()});
        // Gradients that were computed in bf16: the low 16 bits are zero.
        const auto autocast_at = [](std::uint32_t rank, std::uint32_t call, std::size_t at) {
          return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value_at(rank, call, at)) &
                                      0xffff'0000u);
        };
        DirectReduce direct(world, plan, autocast_at);
        if (!world.run_until(
                world.now() + 20s, [&] { return direct.finished(); }))
          throw Violation("not finished in time\n" + world.describe());
        check_results(direct, plan, autocast_at);
        const auto compressed = world.sum(core::Counter::kBytesCompressed);
        REQUIRE(compressed > 0);
        REQUIRE(compressed * 10 > world.sum(core::Counter::kBytesCompressedWire) * 13);
      });
}

TEST_CASE(
    "under heavy loss a licensed direct exchange gives all ranks the same bits and lacks at most "
    "P") {
  std::uint64_t lossy = 0;
  std::uint64_t partial = 0;
  std::uint64_t repaired = 0;
  for_each_seed(120, [&](std::uint64_t seed) {
    Rng rng(seed);
    DirectPlan plan;
    plan.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
    plan.floats = (16 << 10) + rng.below(100'000);
    plan.calls = 4;
    plan.tensor_calls = 1 + static_cast<std::uint32_t>(rng.below(4));
    plan.loss_ppm = 1000 * static_cast<std::uint32_t>(1 + rng.below(200));
    plan.fill = rng.chance(0.5) ? LossFill::kZero : LossFill::kRescale;
    plan.hubs = seed % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(rng.below(3));
    World world(world_of(plan.ranks + plan.hubs, rng.chance(0.5) ? 1500 : 9000, seed));
    datapath::sim::LinkFaults faults;
    faults.drop = 0.05 * rng.unit();
    faults.duplicate = rng.chance(0.5) ? 0 : 0.05 * rng.unit();
    world.network().set_edge_faults(faults);
    DirectReduce direct(world, plan, [](auto, auto, auto) { return 1.0f; });
    if (!world.run_until(world.now() + 20s, [&] { return direct.finished(); }))
      throw Violation("not finished in time\n" + world.describe());
    for (std::uint32_t call = 0; call < plan.calls; ++call)
      check_ones(direct, plan, call);
    for (std::uint32_t first = 0; first < plan.calls; first += plan.tensor_calls) {
      double lost = 0;
      const std::uint32_t end = std::min(first + plan.tensor_calls, plan.calls);
      for (std::uint32_t call = first; call < end; ++call)
        lost += direct.lost_share(call) / (end - first);
      if (lost > plan.loss_ppm / 1e6) throw Violation(fmt::format("a share of {} lost", lost));
      lossy += lost > 0;
    }
    for (std::uint32_t rank = 0; rank < plan.ranks + plan.hubs; ++rank)
      partial += direct.blocks(rank).partial;
    repaired += world.sum(core::Counter::kNeedsSent);
  });
  CHECK(lossy > 30);
  CHECK(partial > 30);
  CHECK(repaired > 0);
}

TEST_CASE(
    "exact direct exchange gives the same bits in every run, whatever packets are lost, also with "
    "hubs") {
  DirectPlan plan{.ranks = 5, .floats = 30'000, .calls = 2};
  std::vector<float> first;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    plan.hubs = seed % 2 == 0 ? static_cast<std::uint32_t>(seed / 2) : 0;
    World world(world_of(plan.ranks + plan.hubs, 1500, seed));
    datapath::sim::LinkFaults faults;
    faults.drop = 0.01 * static_cast<double>(seed - 1);
    world.network().set_edge_faults(faults);
    DirectReduce direct(
        world, plan,
        [](auto rank, auto call, auto at) {
          return std::ldexp(value_at(rank, call, at),
                            static_cast<int>(at % 23));  // so that sums round
        });
    REQUIRE(world.run_until(world.now() + 20s, [&] { return direct.finished(); }));
    if (first.empty()) first = direct.result(0, 1);
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank)
      CHECK(std::memcmp(direct.result(rank, 1).data(), first.data(), first.size() * 4) == 0);
  }
}

// Signal and noise have equal energy on every rank. If 1% of seven ranks' packets stayed lost,
// zeros would leave a relative error of 0.0019, their mean 0.0011, and zeros in a ring 0.02.
TEST_CASE("between eight ranks at 1% loss the error of rescaled sums is a thousandth") {
  double error[2]{}, energy[2]{}, lost[2]{};
  constexpr std::uint64_t kSeeds = 6;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const LossFill fill : {LossFill::kZero, LossFill::kRescale}) {
      const auto which = static_cast<std::size_t>(fill);
      const DirectPlan plan{
          .ranks = 8, .floats = 256 << 10, .calls = 1, .loss_ppm = 10'000, .fill = fill};
      const auto value = [seed](std::uint32_t rank, std::uint32_t, std::size_t at) {
        return value_at(100, static_cast<std::uint32_t>(seed), at) +
               value_at(rank, static_cast<std::uint32_t>(seed), at);
      };
      World world(world_of(plan.ranks, 1500, seed));
      datapath::sim::LinkFaults faults;
      faults.drop = 0.01;
      world.network().set_edge_faults(faults);
      DirectReduce direct(world, plan, value);
      REQUIRE(world.run_until(world.now() + 20s, [&] { return direct.finished(); }));
      for (std::size_t at = 0; at < plan.floats; ++at) {
        double exact = 0;
        for (std::uint32_t rank = 0; rank < plan.ranks; ++rank)
          exact += static_cast<double>(value(rank, 0, at));
        error[which] += std::pow(static_cast<double>(direct.result(0, 0)[at]) - exact, 2);
        energy[which] += exact * exact;
      }
      lost[which] += direct.lost_share(0) / kSeeds;
    }
  }
  fmt::print(
      "1% loss, P = 1%, 8 ranks: {:.4f} and {:.4f} of the contributions lost, relative MSE "
      "{:.5f} zero, {:.5f} rescaled\n",
      lost[0], lost[1], error[0] / energy[0], error[1] / energy[1]);
  CHECK(lost[1] > 0.002);
  CHECK(error[1] / energy[1] <= 0.0010);
  CHECK(error[1] / energy[1] < 0.7 * error[0] / energy[0]);
}

// 16 ranks accept one packet of a connection before they grant more, and a block has two: a
// transfer that waits for credit must not delay the others.
TEST_CASE(
    "at 100 Gbit/s direct exchange takes a third of a ring's time for short sums, less than it for "
    "middle sizes") {
  struct Size {
    std::uint32_t ranks;
    std::size_t kib;
    double most;
  };
  constexpr std::uint32_t kCalls = 12;
  for (const auto& [ranks, kib, most] :
       {Size{8, 16, 0.20}, {8, 64, 0.25}, {8, 256, 0.36}, {8, 1024, 0.85}, {16, 1024, 0.7}}) {
    if (kSanitized && kib > 64) continue;
    const std::size_t floats = kib * 256;
    const DirectPlan plan{.ranks = ranks, .floats = floats, .calls = kCalls};
    World direct_world(world_of(ranks, 9000, 1, 100));
    DirectReduce direct(direct_world, plan, value_at);
    REQUIRE(direct_world.run_until(direct_world.now() + 5s, [&] { return direct.finished(); }));
    check_results(direct, plan);
    World ring_world(world_of(ranks, 9000, 1, 100));
    RingReduce ring(ring_world,
                    {.ranks = ranks, .part_floats = floats / ranks, .collectives = kCalls},
                    value_at);
    ring_world.finish(5s);
    const double direct_us = median_us(
        kCalls, [&](std::uint32_t i) { return direct.took(i); });
    const double ring_us = median_us(kCalls, [&](std::uint32_t i) { return ring.took(i); });
    INFO(fmt::format("{} ranks, {} KiB: direct {:.1f} us, ring {:.1f} us, {:.2f}", ranks, kib,
                     direct_us, ring_us, direct_us / ring_us));
    CHECK(direct_us <= most * ring_us);
  }
}
