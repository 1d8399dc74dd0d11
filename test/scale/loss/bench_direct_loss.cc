// The effect of loss on an all-reduce by direct exchange, compared with a ring: on the sum, and on
// the time.
//
//   bench_direct_loss sums            error of the sums, by what fills the holes
//   bench_direct_loss times [RANKS] [CALLS] [SEEDS]   simulated 1 MiB at 1% loss: cost of the tail
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "collective/calls/loss_counts.h"
#include "collective/reduce/reduce.h"
#include "simulate/load/workloads.h"
#include "simulate/protocol/core_transport.h"
#include "util/rng.h"

namespace {

using namespace dlcp;

// ---- sums ----

constexpr std::size_t kRanks = 8;
constexpr std::size_t kPacketFloats = 352;  // 1408 bytes
constexpr std::size_t kPackets = 4096;
constexpr std::size_t kFloats = kPackets * kPacketFloats;

double gauss(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(6.283185307179586 * rng.unit());
}

// Every rank's gradient is signal and noise of equal energy; a packet's scale spans three decades,
// depending on its position (layers), or on position and rank (samples).
enum class Scales { kOne, kByPlace, kByRankAndPlace };

std::vector<std::vector<float>> gradients(Scales scales, Rng& rng) {
  std::vector<std::vector<float>> made(kRanks, std::vector<float>(kFloats));
  const auto draw = [&] { return std::pow(10.0, -3 * rng.unit()); };
  for (std::size_t packet = 0; packet < kPackets; ++packet) {
    std::vector<double> scale(kRanks, scales == Scales::kOne ? 1.0 : draw());
    if (scales == Scales::kByRankAndPlace) std::ranges::generate(scale, draw);
    for (std::size_t i = packet * kPacketFloats; i < (packet + 1) * kPacketFloats; ++i) {
      const double signal = gauss(rng);
      for (std::size_t rank = 0; rank < kRanks; ++rank)
        made[rank][i] = static_cast<float>(scale[rank] * (signal + gauss(rng)));
    }
  }
  return made;
}

using Holes = std::vector<std::vector<bool>>;  // by rank and packet

// `share` of the packets that cross the network: the owners, which rotate, lose none of their own.
Holes lose_packets(const std::vector<std::vector<float>>& inputs, double share, bool smallest,
                   Rng& rng) {
  Holes lost(kRanks, std::vector<bool>(kPackets));
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t packet = 0; packet < kPackets; ++packet) {
      if (packet % kRanks == rank) continue;
      double worth = rng.unit();
      if (smallest) {
        worth = 0;
        for (std::size_t i = packet * kPacketFloats; i < (packet + 1) * kPacketFloats; ++i)
          worth += std::abs(static_cast<double>(inputs[rank][i]));
      }
      order.emplace_back(worth, packet);
    }
    std::ranges::sort(order);
    const auto count = static_cast<std::size_t>(share * static_cast<double>(order.size()));
    for (std::size_t i = 0; i < count; ++i)
      lost[rank][order[i].second] = true;
  }
  return lost;
}

double relative_mse(const std::vector<float>& sum, const std::vector<double>& exact) {
  double error = 0, energy = 0;
  for (std::size_t i = 0; i < kFloats; ++i) {
    error += std::pow(static_cast<double>(sum[i]) - exact[i], 2);
    energy += exact[i] * exact[i];
  }
  return error / energy;
}

std::vector<float> filled_sum(std::vector<std::vector<float>> inputs, const Holes& lost,
                              bool rescale) {
  collective::LossCounts counts;
  std::vector<const std::byte*> pointers;
  constexpr std::size_t kBytes = kPacketFloats * 4;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::vector<ByteRange> ranges;
    for (std::size_t packet = 0; packet < kPackets; ++packet) {
      if (!lost[rank][packet]) continue;
      ranges.push_back({packet * kBytes, (packet + 1) * kBytes});
      std::fill_n(inputs[rank].begin() + static_cast<std::ptrdiff_t>(packet * kPacketFloats),
                  kPacketFloats, 0.0f);
    }
    counts.add(ranges, kFloats * 4, kRanks);
    pointers.push_back(reinterpret_cast<const std::byte*>(inputs[rank].data()));
  }
  std::vector<float> sum(kFloats);
  auto* out = reinterpret_cast<std::byte*>(sum.data());
  const auto type = collective::DataType::kFloat32;
  rescale ? collective::reduce_scaled(type, pointers, kFloats * 4, counts.counts(), out)
          : collective::reduce(type, collective::ReduceOp::kSum, pointers, kFloats * 4, out);
  return sum;
}

// Each hop loses this share of packets of partial sums; zeros replace them.
std::vector<float> ring_sum(const std::vector<std::vector<float>>& inputs, double share, Rng& rng) {
  std::vector<float> sum(kFloats);
  for (std::size_t packet = 0; packet < kPackets; ++packet) {
    const std::size_t first = packet * kPacketFloats;
    for (std::size_t hop = 0; hop < kRanks; ++hop) {
      if (hop > 0 && rng.chance(share))
        std::fill_n(sum.begin() + static_cast<std::ptrdiff_t>(first), kPacketFloats, 0.0f);
      for (std::size_t i = first; i < first + kPacketFloats; ++i)
        sum[i] += inputs[(packet + hop) % kRanks][i];
    }
  }
  return sum;
}

void sums() {
  fmt::print("Relative MSE of the sum of {} ranks, 1% of packets lost:\n\n", kRanks);
  fmt::print("{:<26} {:<10} {:>10} {:>10} {:>12}\n", "magnitudes of packets", "lost are", "zero",
             "rescale", "ring, zero");
  struct Row {
    const char* name;
    Scales scales;
  };
  for (const Row& row : {Row{"all alike", Scales::kOne}, Row{"by place", Scales::kByPlace},
                         Row{"by place and rank", Scales::kByRankAndPlace}}) {
    Rng rng(17);
    const auto inputs = gradients(row.scales, rng);
    std::vector<double> exact(kFloats);
    for (const auto& input : inputs)
      for (std::size_t i = 0; i < kFloats; ++i)
        exact[i] += static_cast<double>(input[i]);
    for (const bool smallest : {false, true}) {
      const Holes lost = lose_packets(inputs, 0.01, smallest, rng);
      fmt::print(
          "{:<26} {:<10} {:>10.2e} {:>10.2e} {:>12}\n", row.name, smallest ? "smallest" : "random",
          relative_mse(filled_sum(inputs, lost, false), exact),
          relative_mse(filled_sum(inputs, lost, true), exact),
          smallest ? "" : fmt::format("{:.2e}", relative_mse(ring_sum(inputs, 0.01, rng), exact)));
    }
  }
}

// ---- times ----

constexpr std::uint64_t kBytes = 1 << 20;

struct Times {
  std::vector<double> us;  // one per call
  simulate::TransportCounters counters;
  double p(double share) const {
    auto sorted = us;
    std::ranges::sort(sorted);
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(rank) - 1];
  }
};

// The first call opens the windows and does not count. `steps`: per call.
void add_times(const std::vector<simulate::Finish>& finishes, std::size_t steps, Times& times) {
  for (std::size_t first = steps; first < finishes.size(); first += steps) {
    Time began = kNever, ended{};
    for (std::size_t i = first; i < first + steps; ++i) {
      began = std::min(began, finishes[i].began);
      ended = std::max(ended, finishes[i].delivered);
    }
    times.us.push_back(static_cast<double>((ended - began).count()) / 1000);
  }
}

simulate::Workload rings(std::size_t ranks, std::size_t calls) {
  std::vector<simulate::HostIndex> order(ranks);
  std::iota(order.begin(), order.end(), 0u);
  const simulate::Workload one = simulate::ring_all_reduce(order, kBytes);
  simulate::Workload all;
  for (std::size_t call = 0; call < calls; ++call) {
    const std::size_t begin = all.size();
    for (std::size_t i = 0; i < one.size(); ++i) {
      simulate::Step step = one[i];
      for (auto& before : step.after)
        before += static_cast<simulate::TransferId>(begin);
      // A rank begins when it has the last part of the previous call.
      if (call > 0 && i < ranks)
        step.after = {static_cast<simulate::TransferId>(begin - ranks + (i + ranks - 1) % ranks)};
      all.push_back(std::move(step));
    }
  }
  return all;
}

Times simulated(const simulate::Workload& workload, std::size_t ranks, std::size_t calls,
                double loss, std::size_t seeds) {
  Times times;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulate::CoreConfig config;
    config.seed = seed;
    simulate::FabricPlan plan =
        simulate::single_switch(ranks, {100, std::chrono::nanoseconds(1000)});
    plan.seed = seed;
    plan.classes = simulate::CoreTransport::switches(config, plan);
    plan.switch_buffer_bytes = simulate::kCommodityBuffer;
    simulate::PacketPool pool;
    std::unique_ptr<simulate::Job> job;  // events hold its packets
    simulate::Events events;
    simulate::Fabric fabric(events, plan);
    job = std::make_unique<simulate::Job>(events, workload);
    simulate::CoreTransport transport(fabric, pool, *job, config);
    job->at_start = [&](Time) {  // no loss during the opening
      for (std::uint32_t host = 0; host < ranks; ++host)
        fabric.to_host(host).set_loss(loss);
    };
    if (!job->run(transport, std::chrono::seconds(60))) {
      fmt::print(stderr, "not finished\n");
      std::exit(1);
    }
    add_times(job->finishes(), workload.size() / calls, times);
    times.counters.bytes += transport.counters().bytes;
    times.counters.bytes_again += transport.counters().bytes_again;
    times.counters.bytes_given_up += transport.counters().bytes_given_up;
  }
  return times;
}

void times(std::size_t ranks, std::size_t calls, std::size_t seeds) {
  struct Row {
    const char* name;
    simulate::Workload workload;
  };
  const std::vector<Row> rows = {
      {"ring, exact", rings(ranks, calls)},
      {"direct, exact", simulate::direct_all_reduces(ranks, kBytes, calls, 0)},
      {"direct, P = 1%", simulate::direct_all_reduces(ranks, kBytes, calls, 0.01)}};
  fmt::print("{} ranks at 100 Gbit/s, 1 MiB, {} calls, links lose 1% in all; us:\n\n", ranks,
             (calls - 1) * seeds);
  fmt::print("{:<16} {:>18} {:>18} {:>9} {:>8} {:>8} {:>8}\n", "", "clean p50, p99",
             "loss p50, p99", "excess", "of ring", "again", "given up");
  double ring = 0;
  for (const Row& row : rows) {
    const Times clean = simulated(row.workload, ranks, calls, 0, seeds);
    const Times lossy = simulated(row.workload, ranks, calls, 0.01, seeds);
    const double excess = lossy.p(0.99) - clean.p(0.99);
    if (ring == 0) ring = excess;
    const auto bytes = static_cast<double>(lossy.counters.bytes);
    fmt::print("{:<16} {:>9.1f} {:>8.1f} {:>9.1f} {:>8.1f} {:>9.1f} {:>8.3f} {:>7.2f}% {:>7.3f}%\n",
               row.name, clean.p(0.5), clean.p(0.99), lossy.p(0.5), lossy.p(0.99), excess,
               excess / ring, 100 * static_cast<double>(lossy.counters.bytes_again) / bytes,
               100 * static_cast<double>(lossy.counters.bytes_given_up) / bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "sums";
  const auto number = [&](int at, std::size_t usual) {
    return argc > at ? static_cast<std::size_t>(std::atoll(argv[at])) : usual;
  };
  if (what == "sums") {
    sums();
  } else if (what == "times") {
    times(number(2, 16), std::max<std::size_t>(number(3, 11), 2), number(4, 10));
  } else {
    fmt::print(stderr, "usage: bench_direct_loss sums | times [RANKS] [CALLS] [SEEDS]\n");
    return 2;
  }
  return 0;
}
