// The whole sweep of congestion control, as JSON: DLCP's core and models of CUBIC and BBR on one
// simulated bottleneck. A measurement, not a test; test/sim/path/congestion_test.cc has a part of
// it.
//
//   bench_congestion [--quick] [--seed N] [--placed]
//
// --placed compares DLCP with itself when the network cards place the data (core/placement), and
// summarizes the ratio of the two in each cell.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "path/sweep.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

void print(const char* name, const ContestResult& result) {
  fmt::print(
      ", \"{}\": {{\"used\": {:.3f}, \"queue_us\": {:.1f}, \"dropped\": {:.4f}, \"fairness\": "
      "{:.3f}, \"fairness_20_to_40\": {:.3f}}}",
      name, result.used, result.queue_mean * 1e6, result.dropped, result.fairness,
      result.fairness_between(20 * result.round_trip, 40 * result.round_trip));
}

void compare_placed(bool all, std::uint64_t seed) {
  std::vector<double> ratios;
  std::size_t within = 0;
  fmt::print("{{\"seed\": {}, \"cells\": [", seed);
  const char* separator = "";
  for (const SweepCell& cell : sweep_cells(all)) {
    ContestConfig config = cell.config(Contender::kDlcp, seed);
    const ContestResult copied = run_contest(config);
    config.placed = true;
    const ContestResult placed = run_contest(config);
    ratios.push_back(placed.used / std::max(copied.used, 1e-6));
    within += ratios.back() >= 0.9 && ratios.back() <= 1.1 ? 1 : 0;
    fmt::print(
        "{}\n  {{\"base_us\": {}, \"jitter\": {}, \"loss\": {}, \"flows\": {}, \"buffer\": {}",
        separator, cell.base.count() / 1000, cell.jitter, cell.loss, cell.flows, cell.buffer);
    print("copied", copied);
    print("placed", placed);
    fmt::print(", \"ratio\": {:.3f}}}", ratios.back());
    separator = ",";
  }
  std::ranges::sort(ratios);
  fmt::print(
      "\n],\n\"within_10_percent\": [{}, {}], \"ratio\": {{\"least\": {:.3f}, \"median\": "
      "{:.3f}, \"most\": {:.3f}}}}}\n",
      within, ratios.size(), ratios.front(), ratios[ratios.size() / 2], ratios.back());
}

}  // namespace

int main(int argc, char** argv) {
  bool all = true, placed = false;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") {
      all = false;
    } else if (word == "--placed") {
      placed = true;
    } else if (word == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr, "bench_congestion: '{}' is not an option; --quick, --seed N, --placed\n",
                 word);
      return 2;
    }
  }
  if (placed) {
    compare_placed(all, seed);
    return 0;
  }
  SweepScore score;
  fmt::print("{{\"seed\": {}, \"cells\": [", seed);
  const char* separator = "";
  for (const SweepCell& cell : sweep_cells(all)) {
    const SweepRow row = run_row(cell, seed);
    score.add(row);
    fmt::print(
        "{}\n  {{\"base_us\": {}, \"jitter\": {}, \"loss\": {}, \"flows\": {}, \"buffer\": {}",
        separator, cell.base.count() / 1000, cell.jitter, cell.loss, cell.flows, cell.buffer);
    print("dlcp", row.ours);
    print("cubic", row.cubic);
    print("bbr", row.bbr);
    fmt::print("}}");
    separator = ",";
  }
  fmt::print(
      "\n],\n\"link_used_0.8\": [{}, {}], \"tcp_0.9\": [{}, {}], \"half_of_cubics_queue\": [{}, "
      "{}], "
      "\"fair_after_20\": [{}, {}], \"fair\": [{}, {}]}}\n",
      score.fills_link, score.cells, score.keeps_up, score.cells, score.short_queue, score.queues,
      score.soon_fair, score.shared, score.fair, score.shared);
}
