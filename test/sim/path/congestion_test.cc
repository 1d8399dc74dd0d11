// Congestion control on one bottleneck with the faults of real paths, in simulated time, beside
// models of CUBIC and BBR. The whole sweep is test/scale/congestion/bench_congestion.
#include <fmt/format.h>

#include "catch.h"
#include "path/sweep.h"
#include "sanitized.h"
#include "util/statistics/median.h"

using namespace dlcp;
using namespace dlcp::test;

TEST_CASE("flows fill links from 20 us to 5 ms, with jitter and loss") {
  SweepScore score;
  for (int index = 0; const SweepCell& cell : sweep_cells(false)) {
    if (kSanitized && index++ % 4 != 0) continue;
    const SweepRow row = run_row(cell, 1);
    INFO(fmt::format("base {} us, jitter {}, loss {}, {} flows: {:.3f} of the link",
                     cell.base.count() / 1000, cell.jitter, cell.loss, cell.flows, row.ours.used));
    CHECK(row.ours.used >= 0.2);  // no cell starves
    score.add(row);
  }
  fmt::print(
      "seed 1: of {} cells {} use 0.8 of the link, {} have 0.9 of the better TCP; of {} "
      "shared ones {} are fair, {} after 20 round trips; of {} queues {} are half of CUBIC's\n",
      score.cells, score.fills_link, score.keeps_up, score.shared, score.fair, score.soon_fair,
      score.queues, score.short_queue);
  if (kSanitized) return;  // the counts are those of all cells
  CHECK(score.fills_link >= 52);
  CHECK(score.keeps_up >= 51);
  CHECK(score.fair >= 15);
}

// Where a packet's transmission takes longer than the path's delay: ports shaped for tenants,
// tunnels, edge sites.
TEST_CASE("four flows share a slow link evenly and leave room in its buffer") {
  for (const double mbps : {25.0, 100.0, 500.0}) {
    for (const Duration base : {Duration(50us), Duration(1ms)}) {
      ContestConfig config = SweepCell{.base = base}.config(Contender::kDlcp, 4);
      config.path.rate = mbps * 1e6;
      config.path.buffer = 256 << 10;
      const double packet_seconds = 1500 * 8 / config.path.rate;
      config.rounds = 2000 * packet_seconds / (static_cast<double>(base.count()) * 1e-9);
      config.rounds = std::max(config.rounds, 400.0);
      const ContestResult result = run_contest(config);
      INFO(mbps << " Mbit/s, " << base.count() / 1000 << " us");
      CHECK(result.used >= 0.97);
      CHECK(result.fairness >= 0.9);
      CHECK(result.queue_mean <= 64 * packet_seconds);
    }
  }
}

TEST_CASE(
    "after the base delay grows from 200 us to 2.2 ms the link is full again within forty round "
    "trips") {
  SweepCell cell{.base = 200us};
  ContestConfig config = cell.config(Contender::kDlcp, 1);
  config.path.changes_at = time_from_ns(40'000'000);
  config.path.base_then = 2200us;
  config.rounds = 1200;
  config.bins = 120;  // of 2 ms each
  const ContestResult result = run_contest(config);
  double bytes = 0;
  for (std::size_t bin = 64; bin < 120; ++bin)
    bytes += result.bins[0][bin];
  const double used = bytes * 8 / (56 * result.bin_seconds) / config.path.rate / 0.93;
  fmt::print("after the step: {:.3f} of the link\n", used);
  CHECK(used >= 0.8);
}

TEST_CASE("jitter of any shape does not slow a flow") {
  const auto used = [](Duration base, JitterShape shape) {
    ContestConfig config = SweepCell{.base = base}.config(Contender::kDlcp, 1);
    config.path.jitter = base;
    config.path.shape = shape;
    config.rounds = 400;
    return run_contest(config).used;
  };
  for (const Duration base : {Duration(20us), Duration(200us), Duration(5ms)}) {
    const double in_order = used(base, JitterShape::kInOrder);
    const double heavy = used(base, JitterShape::kHeavy);
    const double bursts = used(base, JitterShape::kBursts);
    fmt::print("jitter of {} us: {:.3f} of the link in order, {:.3f} heavy tail, {:.3f} bursts\n",
               base.count() / 1000, in_order, heavy, bursts);
    CHECK(in_order >= 0.8);
    CHECK(heavy >= 0.8);
    CHECK(bursts >= 0.8);
  }
}

TEST_CASE("jitter far above the base delay does not slow a flow down") {
  for (const Duration jitter : {0us, 50us, 100us, 200us, 500us}) {
    double used[2];
    for (const Duration base : {30us, 200us}) {
      ContestConfig config;
      config.path.rate = 10e9;
      config.path.base = base;
      config.path.jitter = jitter;
      config.rounds = 0.05 / std::chrono::duration<double>(base).count();
      used[base == 200us] = run_contest(config).used;
    }
    fmt::print("jitter of {} us: {:.3f} of the link above a delay of 30 us, {:.3f} above 200 us\n",
               jitter.count() / 1000, used[0], used[1]);
    CHECK(used[0] >= 0.8 * used[1]);
  }
}

TEST_CASE("order-preserving jitter of twice a base delay of 100 ms does not end slow start") {
  ContestConfig config = SweepCell{.base = 100ms}.config(Contender::kDlcp, 1);
  config.path.rate = 200e6;
  config.path.jitter = 200ms;
  config.path.shape = JitterShape::kInOrder;
  config.rounds = 120;
  const ContestResult result = run_contest(config);
  fmt::print("100 + 200 ms in order: {:.3f} of 200 Mbit/s\n", result.used);
  CHECK(result.used >= 0.5);
}

TEST_CASE("a DLCP flow and a CUBIC flow on one link each keep most of their share") {
  struct Cell {
    Duration base;
    double buffer;  // of a round trip
  };
  for (const Cell cell :
       {Cell{200us, 0.5}, {200us, 2}, {200us, 8}, {1ms, 0.5}, {1ms, 2}, {5ms, 2}}) {
    if (kSanitized && (cell.base > 200us || cell.buffer > 0.5)) continue;
    ContestConfig config;
    config.path.base = cell.base;
    const double seconds = static_cast<double>(cell.base.count()) * 1e-9;
    config.path.buffer = static_cast<std::size_t>(cell.buffer * config.path.rate / 8 * seconds);
    config.rivals = 1;
    config.rounds = 1500;
    std::vector<double> ours, theirs;  // of runs with different seeds, because single ones differ
    for (config.path.seed = 1; config.path.seed <= 5; ++config.path.seed) {
      const ContestResult result = run_contest(config);
      ours.push_back(result.used);
      theirs.push_back(result.used_by_rivals);
    }
    fmt::print("beside cubic, {} us, buffer of {} round trips: {:.2f} ours, {:.2f} cubic's\n",
               cell.base.count() / 1000, cell.buffer, median(ours), median(theirs));
    CHECK(median(theirs) >= 0.3);
    CHECK(median(ours) >= 0.3);
  }
}

TEST_CASE("a queue that marks stays near its marking threshold") {
  SweepCell cell{.base = 20us, .flows = 16};
  ContestConfig config = cell.config(Contender::kDlcp, 1);
  config.path.ecn_above = 20'000;
  config.path.buffer = 500'000;
  const ContestResult result = run_contest(config);
  fmt::print("marks above 20 KB: queue {:.1f} us, {:.3f} of the link, Jain {:.3f}\n",
             result.queue_mean * 1e6, result.used, result.fairness);
  CHECK(result.used >= 0.9);
  CHECK(result.queue_mean <= 40e-6);
}

TEST_CASE("the models of TCP behave as TCP is known to") {
  const SweepCell clean{.base = 5ms};
  ContestConfig config = clean.config(Contender::kCubic, 1);
  config.rounds = 2000;  // CUBIC grows slowly
  const ContestResult cubic = run_contest(config);
  CHECK(cubic.used >= 0.95);
  CHECK(cubic.queue_max >= 1.9 * 5e-3);  // CUBIC fills the buffer
  const ContestResult bbr = run_contest(clean.config(Contender::kBbr, 1));
  CHECK(bbr.used >= 0.95);
  CHECK(bbr.queue_mean <= 0.3 * 5e-3);  // BBR does not
  SweepCell lossy = clean;
  lossy.loss = 0.01;
  CHECK(run_contest(lossy.config(Contender::kCubic, 1)).used <= 0.4);
  CHECK(run_contest(lossy.config(Contender::kBbr, 1)).used >= 0.9);
}
