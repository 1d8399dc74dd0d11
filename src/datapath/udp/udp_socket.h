// One UDP socket of the datapath: bound to a port that serves as an entropy value, with DF set, and
// configured to report TOS, arrival time, merged segments and drops of received packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "datapath/address/ip_address.h"
#include "util/result.h"
#include "util/rng.h"
#include "util/system/fd.h"

namespace dlcp::datapath {

struct UdpSocketOptions {
  IpAddress local_ip;
  std::size_t receive_buffer_bytes = 0;  // requested; the kernel may grant less
  std::size_t send_buffer_bytes = 0;
  bool gro = true;
  bool reports_errors = false;  // ICMP errors wait in its error queue, which must then be read
  std::string vrf;              // to bind to (Egress::vrf()); empty: none
};

struct UdpSocket {
  Fd fd;
  std::uint16_t port = 0;
  std::size_t receive_budget_bytes = 0;  // granted, in truesize
  bool gro_on = false;
  bool reads_marks = false;   // DSCP and ECN of received packets are known
  bool unfragmented = false;  // packets carry DF, so a path's MTU can be probed
  bool gso_known = false;     // the kernel has UDP_SEGMENT; the route may still not support it
};

// A UDP socket could not be opened; with the remedy for this error number.
Error udp_socket_error(int error);

// Opens a non-blocking socket on a random free port of 49152..65535. kSystem if the address does
// not belong to this host, or descriptors or ports are exhausted.
Result<UdpSocket> open_udp_socket(const UdpSocketOptions& options, Rng& rng);

}  // namespace dlcp::datapath
