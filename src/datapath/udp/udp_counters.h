// What a UDP datapath counts. Written by the one thread that uses the datapath.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "datapath/datapath.h"

namespace dlcp::datapath {

// Why the kernel (or we) refused a packet; each counts packets, which are lost. Order is printed.
enum class UdpSendError : std::uint8_t {
  kBadDestination,  // not an address of ours, another IP family, or no such path
  kTooBig,          // EMSGSIZE: larger than the route's MTU, which is also how a probe finds out
  kUnreachable,     // no route or host, network or peer down
  kNotPermitted,    // EPERM, EACCES: a packet filter
  kNoBuffers,       // ENOBUFS, ENOMEM: dropped by the interface's queue
  kOther,
};
inline constexpr std::array<std::string_view, 6> kUdpSendErrorNames = {
    "tx_error_bad_destination", "tx_error_too_big",    "tx_error_unreachable",
    "tx_error_not_permitted",   "tx_error_no_buffers", "tx_error_other"};

struct UdpCounters {
  std::uint64_t tx_packets = 0;  // datagrams that the kernel took
  std::uint64_t tx_bytes = 0;    // their bytes above UDP
  std::uint64_t tx_bursts = 0;   // of which each was one send with segmentation offload
  std::uint64_t tx_syscalls = 0;
  std::uint64_t tx_would_block = 0;  // the send buffer was full
  std::array<std::uint64_t, kUdpSendErrorNames.size()> tx_errors{};

  std::uint64_t rx_packets = 0;  // after GRO has been taken apart
  std::uint64_t rx_bytes = 0;
  std::uint64_t rx_buffers = 0;  // before
  std::uint64_t rx_syscalls = 0;
  std::uint64_t rx_truncated = 0;    // larger than a receive buffer; dropped
  std::uint64_t rx_queue_drops = 0;  // the kernel's, because a receive buffer was full

  bool gso_on = false;  // segmentation offload on send
  bool gro_on = false;  // merged receive
};

inline constexpr CounterRow<UdpCounters> kUdpCounterRows[] = {
    {"tx_packets", &UdpCounters::tx_packets},
    {"tx_bytes", &UdpCounters::tx_bytes},
    {"tx_bursts", &UdpCounters::tx_bursts},
    {"tx_syscalls", &UdpCounters::tx_syscalls},
    {"tx_would_block", &UdpCounters::tx_would_block},
    {"rx_packets", &UdpCounters::rx_packets},
    {"rx_bytes", &UdpCounters::rx_bytes},
    {"rx_buffers", &UdpCounters::rx_buffers},
    {"rx_syscalls", &UdpCounters::rx_syscalls},
    {"rx_truncated", &UdpCounters::rx_truncated},
    {"rx_queue_drops", &UdpCounters::rx_queue_drops},
};

}  // namespace dlcp::datapath
