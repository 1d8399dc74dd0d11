// One cell of the sweep: flows of one kind, optionally with rivals of another kind, on one path,
// and the measured results.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config.h"
#include "shared_path.h"

namespace dlcp::test {

enum class Contender : std::uint8_t { kDlcp, kCubic, kBbr };

struct ContestConfig {
  PathConfig path;
  Contender kind = Contender::kDlcp;
  int flows = 1;
  int rivals = 0;  // flows of `rival` beside them, which start first
  Contender rival = Contender::kCubic;
  Duration stagger{0};  // between the starts of two flows
  double rounds = 200;  // length of the run, in round trips of the empty path
  int bins = 50;
  bool placed = false;  // the cards of DLCP's hosts place data (core/placement)
};

struct ContestResult {
  double used = 0;  // share of the link's payload rate, second half of the run, by all own flows
  double used_by_rivals = 0;
  double fairness = 0;    // Jain's index, second half
  double queue_mean = 0;  // seconds, second half
  double queue_max = 0;
  double dropped = 0;                     // share of data packets, tail drops, second half
  double round_trip = 0;                  // seconds: base, mean jitter and mean queue
  std::vector<std::vector<double>> bins;  // of each flow: payload bytes in each bin
  double bin_seconds = 0;
  // Jain's index of the own flows between two moments.
  double fairness_between(double from_seconds, double until_seconds) const;
};

ContestResult run_contest(const ContestConfig& config);
double jain(const std::vector<double>& shares);

}  // namespace dlcp::test
