// Traced packets as a capture that Wireshark and tshark read (pcap, raw IP), with IP and UDP
// headers as the network had them but for the ports, which are 49152 + path. scripts/wireshark
// knows what is in them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datapath/trace/packet_ring.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// `local`: the datapath's address. `to_wall`: what added to a packet's time gives the time since
// 1970. Peers whose address is not known are 0.0.0.0 or ::.
std::vector<std::byte> capture_of(std::span<const TracedPacket> packets,
                                  const wire::EndpointAddress& local, Duration to_wall);

}  // namespace dlcp::datapath
