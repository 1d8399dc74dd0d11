// How many payload bytes the kernel can hold for us before it drops: receivers grant credits out of
// this, so it must err on the low side.
#pragma once

#include <cstddef>

namespace dlcp::datapath {

// Kernel memory that one received datagram of `datagram_bytes` (above UDP) is charged for
// ("truesize").
//
// A receive buffer is charged for the sk_buff (256 bytes) plus the whole block the driver took for
// the data: headroom, link/IP/UDP headers, data and skb_shared_info (320), rounded up to a power of
// two as the slab and page allocators do. So 64 bytes cost 768, an MTU of 1500 costs 2304, 4200
// costs 8448. Drivers that share pages between packets, and loopback, are charged less.
std::size_t truesize_estimate(std::size_t datagram_bytes);

struct ReceiveBuffers {
  std::size_t datagram_bytes = 0;       // of the packets that fill them
  std::size_t sockets = 1;              // that peers send to
  std::size_t socket_budget_bytes = 0;  // getsockopt(SO_RCVBUF) of each, which is in truesize
  // Packets that wait singly for the CPU before they reach a socket (net.core.netdev_max_backlog);
  // 0 where they arrive merged, so that this queue is not what overflows.
  std::size_t backlog_packets = 0;
};

// Payload bytes that fit. Of a socket's budget three quarters count, because UDP gives memory back
// in steps of a quarter; of several sockets together half, because paths are not loaded evenly.
std::size_t receive_capacity(const ReceiveBuffers& buffers);

}  // namespace dlcp::datapath
