// An RDMA device opened for one datapath: protection domain, completion queues and what the device
// says of itself. Whoever makes objects on it lets go of them before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "datapath/verbs/roce_ports.h"
#include "datapath/verbs/verbs.h"
#include "util/fd.h"
#include "util/result.h"

namespace dlcp::datapath {

// Ours on every queue pair; a card drops datagrams that carry another. The top bit must be 0: with
// it the card would take the receiving queue pair's key instead.
inline constexpr std::uint32_t kQueueKey = 0x0d1c0790;

// The same for every local error that a card or driver reports when it is asked to do something.
Error verbs_error(const char* what, const RocePort& port, int error);

struct VerbsCard {
  std::shared_ptr<Verbs> verbs;  // the members below are unmade in reverse order
  ContextPtr context;
  PdPtr pd;
  ChannelPtr channel;
  CqPtr send_cq;
  CqPtr receive_cq;

  RocePort port;
  std::size_t mtu = 0;             // largest datagram above UDP and RoCE's own headers
  std::uint32_t requests_max = 0;  // of one queue
  std::uint32_t handles_max = 0;   // address handles

  // `send_entries` and `receive_entries`: completions that may wait.
  static Result<std::unique_ptr<VerbsCard>> open(std::shared_ptr<Verbs> verbs, const RocePort& port,
                                                 std::uint32_t send_entries,
                                                 std::uint32_t receive_entries);

  // A UD queue pair that is ready to send and to receive; errors name the step that failed.
  // `inline_bytes` asks, and is told what was granted.
  Result<QpPtr> make_queue_pair(std::uint32_t send_requests, std::uint32_t receive_requests,
                                std::uint32_t& inline_bytes);
};

}  // namespace dlcp::datapath
