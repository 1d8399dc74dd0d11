// What a verbs datapath counts. Written by the one thread that uses the datapath.
#pragma once

#include <cstdint>

#include "datapath/datapath.h"

namespace dlcp::datapath {

struct VerbsCounters {
  std::uint64_t tx_packets = 0;      // posted
  std::uint64_t tx_bytes = 0;        // of them, above UDP and RoCE's headers
  std::uint64_t tx_zero_copy = 0;    // packets whose payload the card fetched itself
  std::uint64_t tx_copied = 0;       // packets whose payload was copied, inline ones included
  std::uint64_t tx_doorbells = 0;    // posts, each of one chain of packets
  std::uint64_t tx_completions = 0;  // reported by the card
  std::uint64_t tx_queue_full = 0;   // times the caller had to be told to come again
  std::uint64_t tx_errors = 0;       // completions with an error, flushed requests not counted
  std::uint64_t tx_lost = 0;         // packets dropped with a queue pair that was rebuilt
  std::uint64_t tx_unreachable = 0;  // packets to a peer that no address handle leads to
  std::uint64_t queue_pairs_rebuilt = 0;
  std::uint64_t handles_made = 0;  // address handles

  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t rx_ce_marks = 0;
  std::uint64_t rx_errors = 0;   // completions with an error, or without the IP header
  std::uint64_t rx_refills = 0;  // posts of receive buffers, each of many
};

inline constexpr CounterRow<VerbsCounters> kVerbsCounterRows[] = {
    {"tx_packets", &VerbsCounters::tx_packets},
    {"tx_bytes", &VerbsCounters::tx_bytes},
    {"tx_zero_copy", &VerbsCounters::tx_zero_copy},
    {"tx_copied", &VerbsCounters::tx_copied},
    {"tx_doorbells", &VerbsCounters::tx_doorbells},
    {"tx_completions", &VerbsCounters::tx_completions},
    {"tx_queue_full", &VerbsCounters::tx_queue_full},
    {"tx_errors", &VerbsCounters::tx_errors},
    {"tx_lost", &VerbsCounters::tx_lost},
    {"tx_unreachable", &VerbsCounters::tx_unreachable},
    {"queue_pairs_rebuilt", &VerbsCounters::queue_pairs_rebuilt},
    {"handles_made", &VerbsCounters::handles_made},
    {"rx_packets", &VerbsCounters::rx_packets},
    {"rx_bytes", &VerbsCounters::rx_bytes},
    {"rx_ce_marks", &VerbsCounters::rx_ce_marks},
    {"rx_errors", &VerbsCounters::rx_errors},
    {"rx_refills", &VerbsCounters::rx_refills},
};

}  // namespace dlcp::datapath
