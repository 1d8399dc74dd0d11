// Parameters of the probes and loads of `dlcp order`, for real and simulated networks.
#pragma once

#include "util/time.h"

namespace dlcp::cli {

inline constexpr int kBurstProbes = 24;          // the shortest RTT counts
inline constexpr Duration kBurstTime = 40ms;     // time in which a host sends its bursts to all
inline constexpr Duration kSlotOverhead = 15ms;  // for the message to all hosts, and their answers
inline constexpr int kLoadRounds = 3;            // of each phase; the median counts
inline constexpr Duration kLoadTime = 20ms;      // of a round, on links that are fast enough

}  // namespace dlcp::cli
