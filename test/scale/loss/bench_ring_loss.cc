// The gain of bounded loss for rings of any size, simulated. One hop is measured over the real
// protocol at a loss rate: exact messages, licensed ones with sufficient budget, and licensed ones
// without remaining budget. An all-reduce is then composed of such hops; every rank waits for the
// previous part, and each has the ledger's accounting. --direct simulates whole rings instead, to
// check the composition.
//
//   bench_ring_loss [--ranks N,N,...] [--message BYTES] [--loss SHARE] [--budget SHARE]
//                   [--hops N] [--direct 1] [--run N] [--delay MICROSECONDS] [--rate GBITPS]
// --run: packets lost at a time. --delay: of each link, one way; a packet passes two links.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/bounded_loss/loss_ledger.h"
#include "ring_reduce.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

struct Options {
  std::vector<std::uint32_t> ranks = {4, 16, 64, 512};
  std::size_t message = std::size_t{1} << 20;
  double loss = 0.001;
  double budget = 0.01;
  std::uint64_t hops = 4000;  // measured for each kind
  bool direct = false;
  std::uint32_t run = 1;
  double delay_us = 2;
  double rate_gbps = 25;
};

constexpr std::size_t kMtu = 4200;
constexpr std::size_t kPayload = 4096;

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    std::string value = argv[i + 1];
    if (option == "--ranks") {
      options.ranks.clear();
      for (std::size_t at = 0; at != std::string::npos;) {
        options.ranks.push_back(static_cast<std::uint32_t>(std::stoul(value.substr(at))));
        at = value.find(',', at);
        if (at != std::string::npos) ++at;
      }
    } else if (option == "--message") {
      options.message = std::stoul(value);
    } else if (option == "--loss") {
      options.loss = std::stod(value);
    } else if (option == "--budget") {
      options.budget = std::stod(value);
    } else if (option == "--hops") {
      options.hops = std::stoul(value);
    } else if (option == "--direct") {
      options.direct = value == "1";
    } else if (option == "--run") {
      options.run = static_cast<std::uint32_t>(std::max(1ul, std::stoul(value)));
    } else if (option == "--delay") {
      options.delay_us = std::stod(value);
    } else if (option == "--rate") {
      options.rate_gbps = std::stod(value);
    } else {
      return false;
    }
  }
  return argc % 2 == 1;
}

WorldConfig world_of(const Options& options, std::uint32_t hosts, std::uint64_t seed) {
  WorldConfig config;
  datapath::sim::HostConfig host;
  host.link.rate = static_cast<std::uint64_t>(options.rate_gbps * 1e9);
  host.link.delay = Duration(static_cast<std::int64_t>(options.delay_us * 1e3));
  host.mtu = kMtu;
  host.paths = 16;
  host.receive_queue_bytes = std::size_t{8} << 20;
  host.nic_queue_bytes = 512 << 10;
  config.network = datapath::sim::single_switch(hosts, host);
  config.network.port.queue_bytes = 1 << 20;
  config.network.port.early_bytes = 256 << 10;
  config.network.seed = config.seed = seed;
  return config;
}

datapath::sim::LinkFaults faults_of(const Options& options) {
  datapath::sim::LinkFaults faults;
  faults.drop = options.loss;
  faults.drop_run = options.run;
  return faults;
}

core::Licence licence_of(const Options& options, std::uint32_t ranks) {
  core::Licence licence;
  licence.collective = 1;
  licence.ranks = licence.hops = ranks;
  licence.result_bytes = std::uint64_t{options.message} * ranks;
  licence.budget_ppm = static_cast<std::uint32_t>(options.budget * core::kBudgetScale);
  licence.element = gradient::ElementType::kFloat32;
  return licence;
}

double quantile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Hop {
  double us = 0;
  std::uint64_t lost = 0;  // packets given up
  bool hit = false;        // the network lost some of the sender's packets
};

// Messages one after the other over one connection; `budget_ppm` 0: exact.
std::vector<Hop> measure_hops(const Options& options, std::uint32_t budget_ppm) {
  std::vector<Hop> hops;
  for (std::uint64_t seed = 1; hops.size() < options.hops; ++seed) {
    World world(world_of(options, 2, seed));
    world.network().set_edge_faults(faults_of(options));
    const std::size_t flow = world.open_flow(0, 1);
    constexpr std::size_t kWarmUp = 10;
    for (std::size_t i = 0; i < kWarmUp + 100; ++i) {
      Message& message = world.transfer(flow, options.message, world.now() + 20us);
      if (budget_ppm > 0) {
        core::Licence licence = licence_of(options, 2);
        licence.collective = i + 1;
        licence.budget_ppm = budget_ppm;
        message.send_licence = message.receive_licence = licence;
      }
      const auto drops = [&] { return world.network().host(0).nic().link().counters().lost; };
      const auto before = drops();
      const auto done = [&] { return message.receive_done; };
      if (!world.run_until(world.now() + 1s, done)) throw Violation("a message takes too long");
      if (i < kWarmUp) continue;
      hops.push_back({static_cast<double>((message.done_at - message.send_posted_at).count()) / 1e3,
                      message.lost / kPayload, drops() > before});
    }
    world.finish(1s);
  }
  return hops;
}

struct Hops {
  std::vector<Hop> exact, licensed;
  std::vector<Hop> refused;  // licensed, with losses but without budget
};

// Time of one all-reduce in microseconds. Every part travels 2(N - 1) hops; a rank sends a stage
// when it has received the previous one and its link is free.
double compose(const Options& options, const Hops& hops, std::uint32_t ranks, bool licensed,
               Rng& rng) {
  core::Licence licence = licence_of(options, ranks);
  std::vector<core::LossLedger> ledgers(ranks);
  for (auto& ledger : ledgers)
    ledger.open(licence, options.message);
  std::vector<double> received(ranks), next(ranks);  // times of the previous stage, by rank
  const auto any = [&](const std::vector<Hop>& of) { return of[rng.below(of.size())]; };
  for (std::uint32_t stage = 0; stage < 2 * (ranks - 1); ++stage) {
    licence.stage = stage;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t to = rank + 1 < ranks ? rank + 1 : 0;
      Hop hop = any(hops.exact);
      if (licensed && stage + 1 < ranks) {
        hop = any(hops.licensed);
        const std::uint64_t lost = hop.lost * kPayload;
        if (lost > 0 && !ledgers[to].reserve(licence, lost, options.message))
          hop = any(hops.refused);
      }
      // The link was free when the receiver had the previous stage.
      next[to] = std::max(received[rank], received[to]) + hop.us;
    }
    received.swap(next);
  }
  return *std::max_element(received.begin(), received.end());
}

std::vector<double> direct(const Options& options, std::uint32_t ranks, bool licensed) {
  std::vector<double> took;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    World world(world_of(options, ranks, seed));
    world.network().set_edge_faults(faults_of(options));
    RingPlan plan;
    plan.ranks = ranks;
    plan.part_floats = options.message / 4;
    plan.collectives = 51;
    plan.budget_ppm = licensed ? licence_of(options, ranks).budget_ppm : 0;
    RingReduce ring(world, plan, [](auto rank, auto, auto at) {
      return static_cast<float>((at + rank) % 97) - 48.0f;
    });
    world.finish(100s);
    for (std::uint32_t collective = 1; collective < plan.collectives; ++collective)
      took.push_back(static_cast<double>(ring.took(collective).count()) / 1e3);
  }
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) return 2;
  const double packets = static_cast<double>(options.message) / kPayload;
  fmt::print(
      "messages of {} packets of {} bytes, {:g} Gbit/s, {:g} us a link, {:g}% loss{}, P = {:g}%\n",
      packets, kPayload, options.rate_gbps, options.delay_us, 100 * options.loss,
      options.run > 1 ? fmt::format(" in runs of {}", options.run) : "", 100 * options.budget);
  Hops hops;
  if (!options.direct) {
    hops = {measure_hops(options, 0), measure_hops(options, core::kBudgetPpmMax),
            measure_hops(options, 1)};
    std::erase_if(hops.refused, [](const Hop& hop) { return !hop.hit; });
  }
  fmt::print("{:>5} {:>9} {:>7} {:>26} {:>26}\n", "", "", "packets", "exact, us",
             "licensed against exact");
  fmt::print("{:>5} {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "ranks", "hop share",
             "/msg", "p50", "p99", "p99.9", "p50", "p99", "p99.9");
  for (const std::uint32_t ranks : options.ranks) {
    std::vector<double> exact, lossy;
    if (options.direct) {
      exact = direct(options, ranks, false);
      lossy = direct(options, ranks, true);
    } else {
      Rng rng(ranks);
      const int rounds = ranks > 100 ? 200 : 1000;
      for (int i = 0; i < rounds; ++i) {
        exact.push_back(compose(options, hops, ranks, false, rng));
        lossy.push_back(compose(options, hops, ranks, true, rng));
      }
    }
    const double share = licence_of(options, ranks).hop_share();
    fmt::print("{:>5} {:>8.4f}% {:>7.3f}", ranks, 100 * share, packets * share);
    constexpr double kShares[] = {0.5, 0.99, 0.999};
    for (const double at : kShares)
      fmt::print(" {:>8.0f}", quantile(exact, at));
    for (const double at : kShares)
      fmt::print(" {:>8.3f}", quantile(lossy, at) / quantile(exact, at));
    fmt::print("\n");
  }
  return 0;
}
