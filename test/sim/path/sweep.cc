#include "sweep.h"

#include <algorithm>

namespace dlcp::test {
namespace {

constexpr double kFrameBits = 1514 * 8;
// Packets in flight that fill the link. With the full rate of a NIC, long paths would need many
// more packets to simulate, and show the same.
constexpr double kPathPackets = 170;
constexpr double kRateMost = 10e9;
constexpr double kBufferLeast = 64e3;

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) * 1e-9;
}

}  // namespace

ContestConfig SweepCell::config(Contender kind, std::uint64_t seed) const {
  ContestConfig config;
  config.kind = kind;
  config.flows = flows;
  config.path.seed = seed;
  config.path.base = base;
  config.path.jitter = std::chrono::duration_cast<Duration>(base * jitter);
  config.path.loss = loss;
  config.path.rate = std::min(kRateMost, kPathPackets * kFrameBits / seconds(base));
  const double product = config.path.rate * seconds(base) / 8;
  config.path.buffer = static_cast<std::size_t>(std::max(kBufferLeast, buffer * product));
  return config;
}

bool SweepRow::keeps_up() const {
  return ours.used >= 0.9 * std::max(cubic.used, bbr.used);
}

bool SweepRow::judges_queue() const {
  return cubic.queue_mean >= 0.2 * seconds(cell.base);
}

bool SweepRow::soon_fair() const {
  return ours.fairness_between(20 * ours.round_trip, 40 * ours.round_trip) >= 0.95;
}

std::vector<SweepCell> sweep_cells(bool all) {
  std::vector<Duration> bases = {20us, 200us, 5ms};
  std::vector<double> losses = {0, 0.01};
  std::vector<double> buffers = {2};
  if (all) {
    bases = {20us, 200us, 1ms, 5ms, 20ms, 100ms};
    losses = {0, 0.001, 0.01};
    buffers = {0.5, 2};
  }
  std::vector<SweepCell> cells;
  for (const Duration base : bases) {
    for (const double jitter : {0.0, 0.5, 2.0}) {
      for (const double loss : losses) {
        for (const int flows : {1, 4, 16})
          for (const double buffer : buffers)
            cells.push_back({base, jitter, loss, flows, buffer});
      }
    }
  }
  return cells;
}

SweepRow run_row(const SweepCell& cell, std::uint64_t seed) {
  return {cell, run_contest(cell.config(Contender::kDlcp, seed)),
          run_contest(cell.config(Contender::kCubic, seed)),
          run_contest(cell.config(Contender::kBbr, seed))};
}

void SweepScore::add(const SweepRow& row) {
  ++cells;
  fills_link += row.fills_link();
  keeps_up += row.keeps_up();
  if (row.judges_queue()) {
    ++queues;
    short_queue += row.short_queue();
  }
  if (row.cell.flows > 1) {
    ++shared;
    soon_fair += row.soon_fair();
    fair += row.fair();
  }
}

}  // namespace dlcp::test
