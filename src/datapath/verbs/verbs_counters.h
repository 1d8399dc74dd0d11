// The counters of a verbs datapath, written by the one thread that uses it.
#pragma once

#include "datapath/counter_table.h"

namespace dlcp::datapath {

// X(name, "what it counts, or where to look if it grows")
#define DLCP_VERBS_COUNTERS(X)                                            \
  X(tx_packets, "packets posted")                                         \
  X(tx_bytes, "their bytes above UDP and RoCE's headers")                 \
  X(tx_zero_copy, "packets whose payload the card fetched itself")        \
  X(tx_copied, "packets whose payload was copied, inline ones included")  \
  X(tx_doorbells, "posts, each of one chain of packets")                  \
  X(tx_completions, "reported by the card")                               \
  X(tx_queue_full, "times the caller had to be told to come again")       \
  X(tx_errors, "completions with an error, flushed requests not counted") \
  X(tx_lost, "packets dropped with a queue pair that was rebuilt")        \
  X(tx_unreachable, "packets to a peer that no address handle leads to")  \
  X(queue_pairs_rebuilt, "after an error: see the log")                   \
  X(handles_made, "address handles")                                      \
  X(rx_packets, "")                                                       \
  X(rx_bytes, "their bytes above UDP and RoCE's headers")                 \
  X(rx_ce_marks, "switches see congestion")                               \
  X(rx_errors, "completions with an error, or without the IP header")     \
  X(rx_refills, "posts of receive buffers, each of many")

struct VerbsCounters {
  DLCP_VERBS_COUNTERS(DLCP_COUNTER_FIELD)
};

inline constexpr CounterRow<VerbsCounters> kVerbsCounterRows[] = {
#define DLCP_COUNTER_ROW(name, help) {#name, help, &VerbsCounters::name},
    DLCP_VERBS_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};

}  // namespace dlcp::datapath
