// Estimates how many payload bytes the kernel can buffer before it drops packets. Receivers grant
// credit out of this amount, so the estimate must not be too high.
#pragma once

#include <cstddef>

namespace dlcp::datapath {

// Kernel memory ("truesize") that is charged for one received datagram of `datagram_bytes` (above
// UDP).
//
// The charge is the sk_buff (256 bytes) plus the whole block that the driver allocated for the
// data: headroom, link/IP/UDP headers, data and skb_shared_info (320 bytes), rounded up to a power
// of two, like the slab and page allocators. 64 bytes therefore cost 768, an MTU of 1500 costs
// 2304, and 4200 bytes cost 8448. Drivers that share pages between packets, and loopback, are
// charged less.
std::size_t truesize_estimate(std::size_t datagram_bytes);

struct ReceiveBuffers {
  std::size_t datagram_bytes = 0;       // size of the packets that fill them
  std::size_t sockets = 1;              // number of sockets that peers send to
  std::size_t socket_budget_bytes = 0;  // getsockopt(SO_RCVBUF) of each socket, in truesize
  // Packets that wait for the CPU one by one before they reach a socket
  // (net.core.netdev_max_backlog); 0 if they arrive merged and this queue cannot overflow.
  std::size_t backlog_packets = 0;
};

// Payload bytes that fit. Three quarters of a socket's budget count, because UDP returns memory in
// steps of a quarter. Of several sockets half of the total counts, because the load of paths
// differs.
std::size_t receive_capacity(const ReceiveBuffers& buffers);

}  // namespace dlcp::datapath
