// Parses "HOST", "HOST:PORT", "[IPV6]:PORT" or a bare IPv6 address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/result.h"

namespace dlcp {

struct HostPort {
  std::string host;
  std::optional<std::uint16_t> port;  // 1..65535; nullopt if the text has none
};

// More than one colon without brackets means an IPv6 address without a port.
Result<HostPort> split_host_port(const std::string& text);

// The reverse of split_host_port: an IPv6 address gets brackets.
std::string join_host_port(const std::string& host, int port);

}  // namespace dlcp
