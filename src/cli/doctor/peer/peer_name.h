// Parses "HOST", "HOST:PORT", "[IPV6]:PORT" or a bare IPv6 address into the target of probes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datapath/address/ip_address.h"
#include "util/result.h"

namespace dlcp::cli {

struct Peer {
  datapath::IpAddress address;
  std::optional<std::uint16_t> port;  // if given
};

// Resolves names with the system's resolver. kInvalidUsage for a text that is neither a name nor an
// address, and for a link-local address without an interface.
Result<Peer> resolve_peer(const std::string& text);

}  // namespace dlcp::cli
