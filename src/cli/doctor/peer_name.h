// From "HOST", "HOST:PORT", "[IPV6]:PORT" or a bare IPv6 address to where probes go.
#pragma once

#include <cstdint>
#include <string>

#include "datapath/udp/ip_address.h"
#include "util/result.h"

namespace dlcp::cli {

struct Peer {
  datapath::SocketAddress address;
  datapath::IpFamily family = datapath::IpFamily::kV4;
  std::string text;  // "10.0.0.2 port 48555"
};

// Asks the system's resolver for names. kInvalidUsage for what is neither name nor address.
Result<Peer> resolve_peer(const std::string& text, std::uint16_t default_port);

}  // namespace dlcp::cli
