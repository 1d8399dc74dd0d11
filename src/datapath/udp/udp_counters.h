// The counters of a UDP datapath, written by the one thread that uses it. Packets that the kernel
// or the datapath rejected are lost and counted by reason.
#pragma once

#include "datapath/counter_table.h"

namespace dlcp::datapath {

// X(name, "what it counts, or where to look if it grows")
#define DLCP_UDP_COUNTERS(X)                                                                       \
  X(tx_packets, "datagrams that the kernel accepted")                                              \
  X(tx_bytes, "bytes of these datagrams above UDP")                                                \
  X(tx_bursts, "system calls that sent several packets with segmentation offload")                 \
  X(tx_syscalls, "")                                                                               \
  X(tx_would_block, "the send buffer was full: raise DLCP_SNDBUF and net.core.wmem_max")           \
  X(rx_packets, "datagrams received, after merged ones (GRO) are split")                           \
  X(rx_bytes, "bytes of these datagrams above UDP")                                                \
  X(rx_buffers, "datagrams before they are split: rx_packets / rx_buffers is the gain of GRO")     \
  X(rx_syscalls, "")                                                                               \
  X(rx_truncated, "datagrams larger than a receive buffer, dropped")                               \
  X(rx_queue_drops, "a receive buffer was full: raise DLCP_RCVBUF and net.core.rmem_max")          \
  X(rx_refused,                                                                                    \
    "a peer's host rejects packets (ICMP): its process has ended, or a firewall rejects them")     \
  X(rx_refused_ignored,                                                                            \
    "ICMP errors about another host, or of a kind that says nothing about a peer")                 \
  X(tx_error_bad_destination, "lost: unknown form of address, another IP family, or no such path") \
  X(tx_error_too_big, "lost: larger than the route's MTU; probes of the MTU count too")            \
  X(tx_error_unreachable, "lost: no route, or the host, network or peer is down")                  \
  X(tx_error_not_permitted, "lost: rejected by a packet filter or routing rule of this host")      \
  X(tx_error_no_buffers, "lost: the interface's queue was full")                                   \
  X(tx_error_other, "lost: another error of the kernel")                                           \
  X(gso_on, "1 if bursts are sent with segmentation offload")                                      \
  X(gro_on, "1 if merged datagrams are received")

struct UdpCounters {
  DLCP_UDP_COUNTERS(DLCP_COUNTER_FIELD)
};

inline constexpr CounterRow<UdpCounters> kUdpCounterRows[] = {
#define DLCP_COUNTER_ROW(name, help) {#name, help, &UdpCounters::name},
    DLCP_UDP_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};

}  // namespace dlcp::datapath
