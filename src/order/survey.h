// Which pairs of hosts to measure, and which hosts share a leaf. As in quicksort: a host that no
// leaf has yet, the pivot, is asked by all others of its kind; those near to it are then judged by
// their distances to a few of each other, so that noise on the one path to the pivot decides
// nothing. Each round splits off a leaf. Few hosts, or all if the user wants, are measured in full.
//
// A pure function of what has been measured: call it, measure what it wants, call it again.
#pragma once

#include <vector>

#include "order/measurements.h"

namespace dlcp::order {

struct SurveyOptions {
  bool full = false;  // every pair is measured
};

struct Survey {
  std::vector<Pair> wanted;  // to be measured before anything is known; empty: done
  // The rest is complete when nothing is wanted.
  std::vector<std::vector<int>> leaves;  // hosts, ascending within a leaf; by first host
  std::vector<int> silent;               // hosts that answer nobody, in no leaf
  int leaves_so_far = 0;                 // for those who watch
};

Survey survey(const Measurements& known, const SurveyOptions& options = {});

}  // namespace dlcp::order
