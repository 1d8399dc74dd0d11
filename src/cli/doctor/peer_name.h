// From "HOST", "HOST:PORT", "[IPV6]:PORT" or a bare IPv6 address to where probes go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datapath/ip_address.h"
#include "util/result.h"

namespace dlcp::cli {

struct Peer {
  datapath::IpAddress address;
  std::optional<std::uint16_t> port;  // where one is written
};

// Asks the system's resolver for names. kInvalidUsage for what is neither name nor address, and for
// a link-local address without the interface.
Result<Peer> resolve_peer(const std::string& text);

}  // namespace dlcp::cli
