// DLCP's core on one simulated bottleneck under conditions that the sweep (bench_congestion) does
// not have: beside TCP flows, jitter of other shapes, policers, unequal paths, and paths that
// change. A measurement, not a test; one line of JSON per condition.
//
//   bench_contest [--seed N]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "path/contest.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

struct Condition {
  std::string name;
  ContestConfig config;
};

std::size_t buffer_of(const PathConfig& path, double delay_products) {
  const double product = path.rate / 8 * static_cast<double>(path.base.count()) * 1e-9;
  return static_cast<std::size_t>(delay_products * product);
}

ContestConfig basic(Duration base) {
  ContestConfig config;
  config.path.base = base;
  config.path.buffer = buffer_of(config.path, 2);
  config.rounds = 400;
  return config;
}

void add_rivals(std::vector<Condition>& all) {
  for (const Contender rival : {Contender::kCubic, Contender::kBbr}) {
    for (const double buffer : {0.5, 2.0, 8.0}) {
      for (const Duration base : {Duration(20us), Duration(200us), Duration(1ms), Duration(5ms)}) {
        ContestConfig config = basic(base);
        config.path.buffer = buffer_of(config.path, buffer);
        config.rival = rival;
        config.rivals = 1;
        config.rounds = 1500;
        all.push_back(
            {fmt::format("beside {}, {} us, buffer {}",
                         rival == Contender::kCubic ? "cubic" : "bbr", base.count() / 1000, buffer),
             config});
      }
    }
  }
}

void add_shapes(std::vector<Condition>& all) {
  const std::vector<std::pair<const char*, JitterShape>> shapes{{"in order", JitterShape::kInOrder},
                                                                {"heavy tail", JitterShape::kHeavy},
                                                                {"bursts", JitterShape::kBursts}};
  for (const auto& [name, shape] : shapes) {
    for (const Duration base : {Duration(20us), Duration(200us), Duration(5ms)}) {
      for (const int flows : {1, 4}) {
        ContestConfig config = basic(base);
        config.path.shape = shape;
        config.path.jitter = base;
        config.flows = flows;
        all.push_back(
            {fmt::format("jitter {}, {} us, {} flows", name, base.count() / 1000, flows), config});
      }
    }
    ContestConfig far = basic(100ms);
    far.path.shape = shape;
    far.path.jitter = 200ms;
    far.path.rate = 2e9;
    far.path.buffer = buffer_of(far.path, 2);
    far.rounds = 80;
    all.push_back({fmt::format("jitter {}, 100 + 200 ms, 2 Gbit/s", name), far});
  }
}

void add_paths(std::vector<Condition>& all) {
  for (const Duration base : {Duration(20us), Duration(200us), Duration(5ms)}) {
    const auto named = [&](const char* what) {
      return fmt::format("{}, {} us", what, base.count() / 1000);
    };
    ContestConfig policed = basic(base);
    policed.path.policer_burst = std::max<std::size_t>(buffer_of(policed.path, 0.5), 30'000);
    all.push_back({named("policer"), policed});
    ContestConfig uneven = basic(base);
    uneven.path.spread = base / 2;
    all.push_back({named("unequal paths"), uneven});
    ContestConfig asymmetric = basic(base);
    asymmetric.path.back_share = 0.9;
    all.push_back({named("long way back"), asymmetric});
    ContestConfig slow = basic(base);
    slow.path.rate = 200e6;
    slow.path.buffer = 64 << 10;
    all.push_back({named("200 Mbit/s, 64 KB"), slow});
    for (const double factor : {0.2, 5.0}) {
      ContestConfig step = basic(base);
      step.path.rate = factor > 1 ? 2e9 : 10e9;
      step.path.buffer = buffer_of(step.path, 2);
      step.path.rate_then = step.path.rate * factor;
      step.path.changes_at = time_from_ns(100 * base.count());
      all.push_back({named(factor > 1 ? "rate x 5" : "rate / 5"), step});
    }
    ContestConfig late = basic(base);
    late.flows = 4;
    late.stagger = 50 * base;
    all.push_back({named("four that join one by one"), late});
  }
}

// Links on which a packet's transmission takes longer than the path's delay: edge sites, shaped
// ports, tunnels.
void add_slow(std::vector<Condition>& all) {
  for (const double mbps : {10.0, 25.0, 50.0, 100.0, 500.0}) {
    for (const Duration base : {Duration(50us), Duration(1ms), Duration(20ms)}) {
      for (const int flows : {1, 4}) {
        ContestConfig config = basic(base);
        config.path.rate = mbps * 1e6;
        config.path.buffer = std::max<std::size_t>(buffer_of(config.path, 2), 256 << 10);
        config.flows = flows;
        // Long enough for a thousand packets.
        const double packets_per_round =
            mbps * 1e6 / 12'000 * static_cast<double>(base.count()) * 1e-9;
        config.rounds = std::max(400.0, 2000 / packets_per_round);
        all.push_back(
            {fmt::format("slow link, {} Mbit/s, {} us, {} flows", mbps, base.count() / 1000, flows),
             config});
      }
    }
  }
}

// More senders than the path holds packets, with shallow and deep buffers.
void add_crowds(std::vector<Condition>& all) {
  for (const int flows : {16, 64, 256}) {
    for (const std::size_t buffer : {std::size_t{256} << 10, std::size_t{4} << 20}) {
      ContestConfig config = basic(20us);
      config.path.buffer = buffer;
      config.flows = flows;
      config.rounds = 4000;
      all.push_back({fmt::format("crowd of {}, buffer {} KiB", flows, buffer >> 10), config});
    }
  }
}

void print(const Condition& condition, const ContestResult& result) {
  fmt::print(
      "{{\"condition\": \"{}\", \"used\": {:.3f}, \"rivals\": {:.3f}, \"fairness\": {:.3f}, "
      "\"queue_us\": {:.1f}, \"dropped\": {:.4f}}}\n",
      condition.name, result.used, result.used_by_rivals, result.fairness, result.queue_mean * 1e6,
      result.dropped);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  std::string_view only;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc || (option != "--seed" && option != "--only")) {
      fmt::print(stderr, "usage: bench_contest [--seed N] [--only PART-OF-A-CONDITION]\n");
      return 2;
    }
    if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--only") only = argv[i + 1];
  }
  std::vector<Condition> conditions;
  add_rivals(conditions);
  add_shapes(conditions);
  add_paths(conditions);
  add_slow(conditions);
  add_crowds(conditions);
  for (Condition& condition : conditions) {
    if (condition.name.find(only) == std::string::npos) continue;
    condition.config.path.seed = seed;
    print(condition, run_contest(condition.config));
  }
}
