#include "util/text/host_port.h"

#include <fmt/format.h>

#include "util/text/quantity.h"

namespace dlcp {

Result<HostPort> split_host_port(const std::string& text) {
  HostPort parts{text, std::nullopt};
  std::optional<std::string> port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    const bool ends = end != std::string::npos;
    if (!ends || (end + 1 < text.size() && text[end + 1] != ':')) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' is not HOST:PORT", text),
                   "write an IPv6 address with a port as [ADDRESS]:PORT"};
    }
    parts.host = text.substr(1, end - 1);
    if (end + 1 < text.size()) port = text.substr(end + 2);
  } else if (text.find(':') != std::string::npos && text.find(':') == text.rfind(':')) {
    parts.host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':') + 1);
  }
  if (parts.host.empty()) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' contains no host", text),
                 "give HOST or HOST:PORT; if this came from a variable, check that it is set"};
  }
  if (port) {
    const auto number = parse_count(*port);
    if (!number || *number < 1 || *number > 65535) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' is not a port", *port),
                   "give 1..65535"};
    }
    parts.port = static_cast<std::uint16_t>(*number);
  }
  return parts;
}

std::string join_host_port(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace dlcp
