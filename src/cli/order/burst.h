// How `dlcp order` probes and loads: the numbers that real and simulated networks share.
#pragma once

#include "util/time.h"

namespace dlcp::cli {

inline constexpr int kBurstProbes = 24;          // of which the nearest answer counts
inline constexpr Duration kBurstTime = 40ms;     // in which a host sends its bursts to all
inline constexpr Duration kSlotOverhead = 15ms;  // the word to all hosts, and theirs back
inline constexpr int kLoadRounds = 3;            // of each phase; the median counts
inline constexpr Duration kLoadTime = 20ms;      // of a round, on links that show enough in it

}  // namespace dlcp::cli
