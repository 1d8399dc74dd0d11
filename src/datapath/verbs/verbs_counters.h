// The counters of a verbs datapath, written by the one thread that uses it.
#pragma once

#include "datapath/counter_table.h"

namespace dlcp::datapath {

// X(name, "what it counts, or where to look if it grows")
#define DLCP_VERBS_COUNTERS(X)                                               \
  X(tx_packets, "packets posted")                                            \
  X(tx_bytes, "bytes of these packets above the headers of UDP and RoCE")    \
  X(tx_zero_copy, "packets whose payload the card read itself")              \
  X(tx_copied, "packets whose payload was copied, inline ones included")     \
  X(tx_doorbells, "posted chains of packets")                                \
  X(tx_completions, "completions that the card reported")                    \
  X(tx_queue_full, "times the queue was full and the caller had to retry")   \
  X(tx_errors, "completions with an error, flushed requests not counted")    \
  X(tx_lost, "packets dropped with a queue pair that was rebuilt")           \
  X(tx_unreachable, "packets to a peer without an address handle")           \
  X(queue_pairs_rebuilt, "queue pairs rebuilt after an error: see the log")  \
  X(handles_made, "address handles")                                         \
  X(rx_packets, "")                                                          \
  X(rx_bytes, "bytes of received packets above the headers of UDP and RoCE") \
  X(rx_ce_marks, "packets with a congestion mark: switches are congested")   \
  X(rx_errors, "completions with an error, or without the IP header")        \
  X(rx_refills, "posts of receive buffers, with many buffers each")

struct VerbsCounters {
  DLCP_VERBS_COUNTERS(DLCP_COUNTER_FIELD)
};

inline constexpr CounterRow<VerbsCounters> kVerbsCounterRows[] = {
#define DLCP_COUNTER_ROW(name, help) {#name, help, &VerbsCounters::name},
    DLCP_VERBS_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};

}  // namespace dlcp::datapath
