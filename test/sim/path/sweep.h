// The cells of the sweep over base delay, jitter, loss, flows and buffer, each run with DLCP's core
// and with the models of CUBIC and BBR, and how many cells meet the goals.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "contest.h"

namespace dlcp::test {

struct SweepCell {
  Duration base{0};
  double jitter = 0;  // times the base
  double loss = 0;
  int flows = 1;
  double buffer = 2;  // times the bandwidth-delay product, at least 64 KB

  ContestConfig config(Contender kind, std::uint64_t seed) const;
};

struct SweepRow {
  SweepCell cell;
  ContestResult ours, cubic, bbr;

  bool fills_link() const { return ours.used >= 0.8; }
  bool keeps_up() const;  // uses at least nine tenths of the better TCP's share
  // Applies where CUBIC's queue is a fifth of the base delay or more: DLCP's must be at most half
  // of it.
  bool judges_queue() const;
  bool short_queue() const { return ours.queue_mean <= 0.5 * cubic.queue_mean; }
  bool soon_fair() const;  // from the twentieth round trip to the fortieth
  bool fair() const { return ours.fairness >= 0.95; }  // in the second half
};

std::vector<SweepCell> sweep_cells(bool all);
SweepRow run_row(const SweepCell& cell, std::uint64_t seed);

struct SweepScore {
  int cells = 0, shared = 0, queues = 0;
  int fills_link = 0, keeps_up = 0, short_queue = 0, soon_fair = 0, fair = 0;
  void add(const SweepRow& row);
};

}  // namespace dlcp::test
