// Checks of this kernel's UDP socket features, each by using the feature over loopback.
#pragma once

#include "cli/doctor/finding.h"
#include "dlcp/class_overrides.h"

namespace dlcp::cli {

// A failure if no UDP socket can be opened on the ports of data; empty if one can.
Findings check_sockets();
Finding check_segmentation();  // UDP_SEGMENT: one send, many datagrams
Finding check_merging();       // UDP_GRO: many datagrams, one receive
// DSCP and ECN per datagram, IPv4 and IPv6.
Findings check_marks_over_loopback(const TrafficClassTable& classes);
Findings check_socket_buffers();  // net.core.rmem_max, wmem_max and the resulting socket buffers

}  // namespace dlcp::cli
