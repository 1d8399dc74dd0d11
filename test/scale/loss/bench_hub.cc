// The gain of hubs over direct exchange: the exchange of real jobs, between simulated hosts with
// the real protocol. There are as many hubs as ranks, each with a rank's bandwidth.
//
//   bench_hub sizes [RANKS] [CALLS] [BLOCK_KIB]   the median call, by size, without loss
//   bench_hub tails [RANKS] [HUBS] [CALLS] [SEEDS] [QUEUE_KIB] [DROP_PPM] [BLOCK_KIB]
//                                             1 MiB, shallow queues, links with loss: exact
//                                             and licensed
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "direct_reduce.h"
#include "world.h"

namespace {

using namespace dlcp;
using namespace dlcp::test;

constexpr std::uint32_t kFirstCounted = 2;

struct Network {
  std::uint64_t gbit_per_s = 100;
  std::size_t queue_bytes = 4 << 20;
  double drop = 0;
};

std::vector<double> times_us(const DirectPlan& plan, const Network& network, std::uint64_t seed) {
  datapath::sim::HostConfig host;
  host.link.rate = network.gbit_per_s * 1'000'000'000;
  host.link.delay = 2us;
  host.mtu = 9000;
  host.paths = 8;
  host.receive_queue_bytes = 4 << 20;
  host.nic_queue_bytes = 256 << 10;
  WorldConfig config;
  config.network = datapath::sim::single_switch(plan.ranks + plan.hubs, host);
  config.network.port.queue_bytes = network.queue_bytes;
  config.network.seed = config.seed = seed;
  World world(config);
  DirectReduce reduce(world, plan, [](auto rank, auto, auto) { return float(rank); });
  const auto run_until = [&](auto&& done) {
    if (world.run_until(world.now() + 60s, done)) return;
    fmt::print(stderr, "not finished\n");
    std::exit(1);
  };
  // The opening is not disturbed, and its time does not count: the first call waits for it, and the
  // second for the first.
  run_until([&] { return reduce.finished() || reduce.over(0); });
  datapath::sim::LinkFaults faults;
  faults.drop = network.drop;
  world.network().set_edge_faults(faults);
  run_until([&] { return reduce.finished(); });
  std::vector<double> times;
  for (std::uint32_t call = kFirstCounted; call < plan.calls; ++call)
    times.push_back(static_cast<double>(reduce.took(call).count()) / 1000);
  return times;
}

double quantile(std::vector<double> times, double share) {
  std::ranges::sort(times);
  return times[std::min(static_cast<std::size_t>(share * static_cast<double>(times.size())),
                        times.size() - 1)];
}

// `block`: the maximum that hubs add at once.
void sizes(std::uint32_t ranks, std::uint32_t calls, std::size_t block) {
  fmt::print("{} ranks, {} hubs, 100 Gbit/s, 2 us a link, MTU 9000; median of {} calls, us:\n\n",
             ranks, ranks, calls - kFirstCounted);
  fmt::print("{:>9} {:>10} {:>10} {:>8}\n", "KiB", "direct", "hubs", "gain");
  for (const std::size_t kib : {16u, 64u, 256u, 1024u, 4096u}) {
    DirectPlan plan{.ranks = ranks, .floats = kib * 256, .calls = calls};
    const double direct = quantile(times_us(plan, {}, 1), 0.5);
    plan.hubs = ranks;
    plan.block_bytes_max = block;
    const double hubs = quantile(times_us(plan, {}, 1), 0.5);
    fmt::print("{:>9} {:>10.1f} {:>10.1f} {:>8.2f}\n", kib, direct, hubs, direct / hubs);
  }
}

void tails(std::uint32_t ranks, std::uint32_t hubs, std::size_t block, std::uint32_t calls,
           std::uint64_t seeds, const Network& network) {
  fmt::print("{} ranks, {} hubs, 1 MiB, queues of {} KiB, links drop {}%; {} calls, us:\n\n", ranks,
             hubs, network.queue_bytes >> 10, network.drop * 100, (calls - kFirstCounted) * seeds);
  fmt::print("{:<16} {:>10} {:>10}\n", "", "p50", "p99");
  double exact = 0;
  for (const std::uint32_t ppm : {0u, 10'000u, 50'000u}) {
    std::vector<double> times;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const DirectPlan plan{.ranks = ranks,
                            .floats = 256 << 10,
                            .calls = calls,
                            .block_bytes_max = block,
                            .loss_ppm = ppm,
                            .hubs = hubs};
      const auto more = times_us(plan, network, seed);
      times.insert(times.end(), more.begin(), more.end());
    }
    const double p99 = quantile(times, 0.99);
    if (ppm == 0) exact = p99;
    fmt::print("hubs, {:<10} {:>10.1f} {:>10.1f}   {:.2f} of exact\n",
               ppm == 0 ? "exact" : fmt::format("P = {}%", ppm / 10'000), quantile(times, 0.5), p99,
               p99 / exact);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "sizes";
  const auto number = [&](int at, long usual) {
    return static_cast<std::uint32_t>(std::max(argc > at ? std::atol(argv[at]) : usual, 0L));
  };
  if (what == "sizes") {
    sizes(number(2, 8), std::max(number(3, 12), kFirstCounted + 1),
          std::size_t{number(4, 64)} << 10);
  } else if (what == "tails") {
    tails(number(2, 8), number(3, 8), std::size_t{number(8, 64)} << 10,
          std::max(number(4, 26), kFirstCounted + 1), number(5, 8),
          {.queue_bytes = std::size_t{number(6, 128)} << 10, .drop = number(7, 5000) / 1e6});
  } else {
    fmt::print(stderr, "usage: bench_hub sizes|tails ...\n");
    return 2;
  }
  return 0;
}
