// Joins reports of placed packets to runs, as cards of simulations do.
#pragma once

#include "datapath/placement.h"

namespace dlcp::datapath::sim {

// True if `next` continues the run.
inline bool follows(const PlacedRun& run, const PlacedRun& next) {
  return run.way == next.way && run.first.slot == next.first.slot &&
         run.first.generation == next.first.generation &&
         run.first.index + run.packets == next.first.index;
}

}  // namespace dlcp::datapath::sim
