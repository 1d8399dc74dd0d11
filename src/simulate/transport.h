// Carries transfers between the hosts of a fabric: the real protocol, or another transport.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/network/fabric.h"

namespace dlcp::simulate {

using TransferId = std::uint32_t;

struct Transfer {
  HostIndex from = 0;
  HostIndex to = 0;
  std::uint64_t bytes = 0;
  double may_lose = 0;  // share of its bytes that need not arrive, 0 .. 0.25
  // Contributions of direct exchange to one part of a result, from `ranks` ranks: all transfers
  // with the same pool number share may_lose. 0: not shared.
  std::uint32_t pool = 0;
  std::uint32_t ranks = 2;
  bool neighbour = false;  // not part of the job
};

struct TransportCounters {
  std::uint64_t packets = 0;         // with data, sent for the first time
  std::uint64_t packets_again = 0;   // retransmissions
  std::uint64_t bytes = 0;           // payload of first transmissions
  std::uint64_t bytes_again = 0;     // payload of retransmissions
  std::uint64_t bytes_given_up = 0;  // lost within the budget
  std::uint64_t timeouts = 0;
  // Sums of squares of licensed gradients: of all, and of those given up.
  double energy = 0;
  double energy_given_up = 0;

  double again() const {
    return bytes == 0 ? 0 : static_cast<double>(bytes_again) / static_cast<double>(bytes);
  }
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_delivered(Time now, TransferId transfer) = 0;     // all data has arrived
  virtual void on_acknowledged(Time now, TransferId transfer) = 0;  // at the sender
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Called before the first transfer, with all pairs that will be used. From then on their hosts
  // belong to this transport. Returns when all connections, if the transport has any, are open.
  virtual void open(std::span<const std::pair<HostIndex, HostIndex>> pairs) = 0;
  // Called after open(): all future transfers, approximately in order, so that receivers can expect
  // them.
  virtual void announce(Time /*now*/, std::span<const Transfer> /*transfers*/) {}
  // Transfers between the same two hosts are delivered in the order in which they begin.
  virtual void begin(Time now, TransferId id, const Transfer& transfer) = 0;
  virtual TransportCounters counters() const = 0;
};

}  // namespace dlcp::simulate
