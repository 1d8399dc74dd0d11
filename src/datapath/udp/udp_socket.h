// One UDP socket as the datapath needs it: bound to a port that serves as an entropy value, DF set,
// and told to report TOS, arrival time, merged segments and drops with what it receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "datapath/ip_address.h"
#include "util/fd.h"
#include "util/result.h"
#include "util/rng.h"

namespace dlcp::datapath {

struct UdpSocketOptions {
  IpAddress local_ip;
  std::size_t receive_buffer_bytes = 0;  // asked for; the kernel may grant less
  std::size_t send_buffer_bytes = 0;
  bool gro = true;
  std::string vrf;  // to bind to, see Egress::vrf(); empty: none
};

struct UdpSocket {
  Fd fd;
  std::uint16_t port = 0;
  std::size_t receive_budget_bytes = 0;  // granted, in the kernel's truesize
  bool gro_on = false;
  bool unfragmented = false;  // its packets carry DF: a path's MTU can be probed
  bool gso_known = false;  // the kernel has UDP_SEGMENT; whether the route can is seen when sending
};

// A non-blocking socket on a random free port of 49152..65535. kSystem when the address is not ours
// or descriptors or ports run out.
Result<UdpSocket> open_udp_socket(const UdpSocketOptions& options, Rng& rng);

}  // namespace dlcp::datapath
