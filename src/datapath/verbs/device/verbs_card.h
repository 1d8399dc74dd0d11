// An RDMA device opened for one datapath: protection domain, completion queues and the device's
// properties. Objects created on it must be destroyed before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/device/verbs.h"
#include "util/result.h"
#include "util/system/fd.h"

namespace dlcp::datapath {

// The Q_Key of all DLCP queue pairs; a card drops datagrams with another one. The top bit must be
// 0: if it is set, the card uses the receiving queue pair's key instead.
inline constexpr std::uint32_t kQueueKey = 0x0d1c0790;

// The access of a region that cards write into. Relaxed ordering is faster to memory of GPUs; a
// completion still follows the bytes that it reports.
inline constexpr int kPlacedAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING;

// The common message for all local errors that a card or driver reports for an operation.
Error verbs_error(const char* what, const RocePort& port, int error);

struct VerbsCard {
  std::shared_ptr<Verbs> verbs;  // the members below are destroyed in reverse order
  ContextPtr context;
  PdPtr pd;
  ChannelPtr channel;
  CqPtr send_cq;
  CqPtr receive_cq;

  RocePort port;
  std::size_t mtu = 0;             // largest datagram to send, above the UDP and RoCE headers
  std::uint32_t requests_max = 0;  // of one queue
  std::uint32_t handles_max = 0;   // address handles
  std::uint32_t entries_max = 0;   // of one completion queue
  std::uint32_t windows_max = 0;   // memory windows
  ibv_mtu path_mtu = IBV_MTU_1024;

  // The largest datagram that the port accepts; `mtu` may be smaller.
  std::size_t port_mtu() const { return std::size_t{128} << path_mtu; }  // IBV_MTU_256 is 1

  // `send_entries` and `receive_entries`: capacity of the completion queues.
  static Result<std::unique_ptr<VerbsCard>> open(std::shared_ptr<Verbs> verbs, const RocePort& port,
                                                 std::uint32_t send_entries,
                                                 std::uint32_t receive_entries);

  // A UD queue pair that is ready to send and receive; errors name the step that failed.
  // `inline_bytes` is the requested size and returns the granted one.
  Result<QpPtr> make_queue_pair(std::uint32_t send_requests, std::uint32_t receive_requests,
                                std::uint32_t& inline_bytes);
};

}  // namespace dlcp::datapath
