// Formats traced packets as a capture for Wireshark and tshark (pcap, raw IP). The IP and UDP
// headers are those of the network, except for the ports, which are 49152 + path. scripts/wireshark
// decodes the payload.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datapath/trace/packet_ring.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// `local` is the datapath's address. `to_wall` is added to a packet's time to get the time since
// 1970. Unknown peer addresses are written as 0.0.0.0 or ::.
std::vector<std::byte> capture_of(std::span<const TracedPacket> packets,
                                  const wire::EndpointAddress& local, Duration to_wall);

}  // namespace dlcp::datapath
