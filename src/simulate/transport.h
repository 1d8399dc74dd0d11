// What moves transfers between the hosts of a fabric: the real protocol, or one of its opponents.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/fabric.h"

namespace dlcp::simulate {

using TransferId = std::uint32_t;

struct Transfer {
  HostIndex from = 0;
  HostIndex to = 0;
  std::uint64_t bytes = 0;
  double may_lose = 0;  // share of its bytes that need not arrive, 0 .. 0.25
  // Contributions of direct exchange to one part of a result: may_lose is then of all of them
  // together, those of `ranks` ranks, and transfers of one pool have its number. 0: by itself.
  std::uint32_t pool = 0;
  std::uint32_t ranks = 2;
  bool neighbour = false;  // of somebody else, beside the job
};

struct TransportCounters {
  std::uint64_t packets = 0;         // with data, sent for the first time
  std::uint64_t packets_again = 0;   // sent again
  std::uint64_t bytes = 0;           // payload of the first
  std::uint64_t bytes_again = 0;     // payload of those sent again
  std::uint64_t bytes_given_up = 0;  // lost within what may be
  std::uint64_t timeouts = 0;
  // Sums of the squares of licensed gradients: all of them, and those given up.
  double energy = 0;
  double energy_given_up = 0;

  double again() const {
    return bytes == 0 ? 0 : static_cast<double>(bytes_again) / static_cast<double>(bytes);
  }
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_delivered(Time now, TransferId transfer) = 0;     // the receiver has all
  virtual void on_acknowledged(Time now, TransferId transfer) = 0;  // the sender knows
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Before the first transfer: all pairs that will be used. Their hosts are this transport's own
  // from then on. Returns when connections, of those who have such, are open.
  virtual void open(std::span<const std::pair<HostIndex, HostIndex>> pairs) = 0;
  // Behind open(): all transfers that will begin, roughly in order; receivers know what comes.
  virtual void announce(Time /*now*/, std::span<const Transfer> /*transfers*/) {}
  // Transfers between the same two hosts are delivered in the order in which they begin.
  virtual void begin(Time now, TransferId id, const Transfer& transfer) = 0;
  virtual TransportCounters counters() const = 0;
};

}  // namespace dlcp::simulate
