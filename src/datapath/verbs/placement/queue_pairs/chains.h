// Chains of requests, built once and shared by all queues of a datapath, so that a queue needs
// little memory and each chain costs one doorbell.
#pragma once

#include <array>
#include <cstdint>

#include "datapath/placement.h"
#include "datapath/verbs/placement/queue_pairs/connected_queue.h"

namespace dlcp::datapath {

// Write requests for one queue at a time. Only the last request of a chain asks for a completion,
// which also releases the payloads of all others.
class SendChain {
 public:
  SendChain(Verbs& verbs, PlacementCounters& counters);

  // Requires queue.room() and that the chain is empty or of the same queue. A full chain is posted.
  void add(ConnectedQueue& queue, const PlacedPacket& packet, std::uint32_t payload_key);
  void post();

 private:
  static constexpr std::size_t kRequests = 64;

  Verbs& verbs_;
  PlacementCounters& counters_;
  ConnectedQueue* queue_ = nullptr;  // of the chain, if it is not empty
  std::size_t count_ = 0;
  std::array<ibv_send_wr, kRequests> requests_{};
  std::array<ibv_sge, kRequests> pieces_{};
};

// Zero-length receives, which a packet with an immediate consumes.
class ReceiveChain {
 public:
  explicit ReceiveChain(Verbs& verbs);

  // Posts all receives that the queue lacks. A failure makes the queue broken.
  void fill(ConnectedQueue& queue);

 private:
  static constexpr std::size_t kRequests = 64;

  Verbs& verbs_;
  std::array<ibv_recv_wr, kRequests> requests_{};
};

}  // namespace dlcp::datapath
