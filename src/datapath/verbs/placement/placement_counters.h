// The counters of placed packets of a verbs datapath, written by the one thread that uses it.
#pragma once

#include "datapath/counter_table.h"

namespace dlcp::datapath {

// X(name, "what it counts, or where to look if it grows")
#define DLCP_PLACEMENT_COUNTERS(X)                                                              \
  X(bytes_placed_by_nic, "payload bytes that the card wrote directly into the user's memory")   \
  X(placed_rx_packets, "packets of these bytes, repeated ones included")                        \
  X(placed_rx_runs, "reports of such packets, with successive packets of a message together")   \
  X(placed_rx_errors, "receive completions with an error")                                      \
  X(placed_tx_packets, "packets posted for the peer's card to place")                           \
  X(placed_tx_bytes, "payload bytes of these packets")                                          \
  X(placed_tx_doorbells, "posted chains of these packets")                                      \
  X(placed_tx_completions, "completions that the card reported for them")                       \
  X(placed_tx_queue_full, "packets dropped because their queue was full")                       \
  X(placed_tx_errors, "completions with an error, flushed requests not counted")                \
  X(placed_tx_lost, "packets dropped because their queue pair did not work or was full")        \
  X(placement_queue_pairs, "queue pairs opened for placed packets")                             \
  X(placement_queue_pairs_reset, "queue pairs reset after an error: see the log of the kernel") \
  X(placement_links_failed, "times a peer's queue pairs could not be connected, or not all")    \
  X(permissions_granted, "permissions to write that were given to peers")                       \
  X(permissions_refused, "permissions that the card had no room or no fresh key for")           \
  X(permissions_revoked, "permissions that were revoked")                                       \
  X(gpu_bytes_copied, "bytes for GPU memory that were copied once in host memory first")

struct PlacementCounters {
  DLCP_PLACEMENT_COUNTERS(DLCP_COUNTER_FIELD)
};

inline constexpr CounterRow<PlacementCounters> kPlacementCounterRows[] = {
#define DLCP_COUNTER_ROW(name, help) {#name, help, &PlacementCounters::name},
    DLCP_PLACEMENT_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};

}  // namespace dlcp::datapath
