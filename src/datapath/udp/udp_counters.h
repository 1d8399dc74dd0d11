// The counters of a UDP datapath, written by the one thread that uses it. Packets that the kernel
// or the datapath rejected are lost and counted by reason.
#pragma once

#include "datapath/counter_table.h"

namespace dlcp::datapath {

// X(name, "what it counts, or where to look if it grows")
#define DLCP_UDP_COUNTERS(X)                                                                      \
  X(tx_packets, "datagrams that the kernel took")                                                 \
  X(tx_bytes, "their bytes above UDP")                                                            \
  X(tx_bursts, "sends of several packets with segmentation offload")                              \
  X(tx_syscalls, "")                                                                              \
  X(tx_would_block, "the send buffer was full: DLCP_SNDBUF, net.core.wmem_max")                   \
  X(rx_packets, "datagrams, after GRO has been taken apart")                                      \
  X(rx_bytes, "their bytes above UDP")                                                            \
  X(rx_buffers, "the same before it has: rx_packets / rx_buffers is what GRO gains")              \
  X(rx_syscalls, "")                                                                              \
  X(rx_truncated, "larger than a receive buffer, and dropped")                                    \
  X(rx_queue_drops, "a receive buffer was full: DLCP_RCVBUF, net.core.rmem_max")                  \
  X(rx_refused, "a peer's host rejects (ICMP): that process is gone, or a firewall stands there") \
  X(rx_refused_ignored, "errors of the path that say nothing of a peer: another host's, or kind") \
  X(tx_error_bad_destination, "lost: not an address of ours, another IP family, or no such path") \
  X(tx_error_too_big, "lost: larger than the route's MTU, which is also how a probe finds out")   \
  X(tx_error_unreachable, "lost: no route or host, network or peer down")                         \
  X(tx_error_not_permitted, "lost: a packet filter of this host")                                 \
  X(tx_error_no_buffers, "lost: the interface's queue was full")                                  \
  X(tx_error_other, "lost: another error of the kernel's")                                        \
  X(gso_on, "1: bursts are sent by segmentation offload")                                         \
  X(gro_on, "1: merged datagrams are received")

struct UdpCounters {
  DLCP_UDP_COUNTERS(DLCP_COUNTER_FIELD)
};

inline constexpr CounterRow<UdpCounters> kUdpCounterRows[] = {
#define DLCP_COUNTER_ROW(name, help) {#name, help, &UdpCounters::name},
    DLCP_UDP_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};

}  // namespace dlcp::datapath
