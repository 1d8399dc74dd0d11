// Estimates the kernel's accounting of receive memory.
#include "datapath/udp/receive/receive_capacity.h"

#include <algorithm>
#include <bit>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kSkBuffBytes = 256;      // struct sk_buff, rounded up to its slab
constexpr std::size_t kSharedInfoBytes = 320;  // struct skb_shared_info
constexpr std::size_t kHeadroomBytes = 64;     // NET_SKB_PAD
constexpr std::size_t kHeaderBytes = 14 + 40 + 8;

}  // namespace

std::size_t truesize_estimate(std::size_t datagram_bytes) {
  return kSkBuffBytes +
         std::bit_ceil(datagram_bytes + kHeaderBytes + kHeadroomBytes + kSharedInfoBytes);
}

std::size_t receive_capacity(const ReceiveBuffers& buffers) {
  const std::size_t charged = truesize_estimate(buffers.datagram_bytes);
  const std::size_t packets_each = buffers.socket_budget_bytes / 4 * 3 / charged;
  std::size_t packets = packets_each * buffers.sockets;
  if (buffers.sockets > 1) packets = std::max(packets_each, packets / 2);
  if (buffers.backlog_packets != 0) packets = std::min(packets, buffers.backlog_packets);
  return packets * buffers.datagram_bytes;
}

}  // namespace dlcp::datapath
