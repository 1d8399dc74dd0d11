// One direction between two hosts in the models of other transports: packets numbered from 0, in
// consecutive transfers. Each end records which packets have arrived.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/opponents/flows/flow_transfers.h"

namespace dlcp::simulate {

// The set of received sequence numbers.
class Arrivals {
 public:
  // False if it was already in the set.
  bool add(std::uint32_t number) {
    if (number / 64 >= words_.size()) words_.resize(std::max<std::size_t>(number / 64 + 1, 8));
    std::uint64_t& word = words_[number / 64];
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    if (number < below_ || (word & bit) != 0) return false;
    word |= bit;
    while (has(below_))
      ++below_;
    ++count_;
    return true;
  }
  bool has(std::uint32_t number) const {
    return number / 64 < words_.size() && (words_[number / 64] >> (number % 64) & 1) != 0;
  }
  std::uint32_t below() const { return below_; }  // all lower numbers are in the set
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint64_t> words_;
  std::uint32_t below_ = 0;
  std::uint32_t count_ = 0;
};

struct Flow {
  HostIndex from = 0;
  HostIndex to = 0;

  FlowTransfers transfers;

  // The sender.
  std::uint32_t next = 0;  // first that was never sent
  Arrivals acknowledged;
  std::deque<std::uint32_t> again;     // to retransmit, first in, first out
  std::vector<Time> sent_at;           // of each packet, its last transmission
  std::vector<std::uint16_t> path_of;  // likewise
  std::vector<std::uint8_t> flying;    // of each packet: sent and not acknowledged
  std::uint32_t in_flight = 0;         // packets
  double window = 0;                   // packets
  bool queued = false;                 // is in its host's queue of flows that may send
  bool timer_set = false;
  std::uint32_t timeouts_in_row = 0;

  // The receiver.
  Arrivals arrived;

  bool done() const { return acknowledged.below() == transfers.packets(); }
  bool has_data() const { return !again.empty() || next < transfers.packets(); }
};

}  // namespace dlcp::simulate
