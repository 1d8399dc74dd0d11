// Chooses the pairs of hosts to measure, and finds hosts that share a leaf. As in quicksort, all
// remaining hosts probe a host without a leaf, the pivot. Hosts near the pivot are then judged by
// their distances to a few of each other, so that noise on the single path to the pivot does not
// decide. Each round splits off a leaf. If there are few hosts, or if the user requests it, all
// pairs are measured.
//
// A pure function of the measurements: call it, measure the pairs that it wants, call it again.
#pragma once

#include <vector>

#include "order/measure/measurements.h"

namespace dlcp::order {

struct SurveyOptions {
  bool full = false;  // measure every pair
};

struct Survey {
  std::vector<Pair> wanted;  // pairs to measure before the next call; empty: done
  // The other members are complete if `wanted` is empty.
  std::vector<std::vector<int>> leaves;  // hosts, ascending within a leaf; by first host
  std::vector<int> silent;               // hosts that never answer, in no leaf
  int leaves_so_far = 0;                 // for progress messages
};

Survey survey(const Measurements& known, const SurveyOptions& options = {});

}  // namespace dlcp::order
