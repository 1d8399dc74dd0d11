// Checks of what this kernel's UDP sockets really do, each by doing it over loopback.
#pragma once

#include "cli/doctor/finding.h"

namespace dlcp::cli {

Finding check_segmentation();          // UDP_SEGMENT: one send, many datagrams
Finding check_merging();               // UDP_GRO: many datagrams, one receive
Findings check_marks_over_loopback();  // DSCP and ECN per datagram, IPv4 and IPv6
Findings check_socket_buffers();       // net.core.rmem_max, wmem_max and what a socket gets

}  // namespace dlcp::cli
