#include "cli/doctor/peer_name.h"

#include <fmt/format.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

namespace dlcp::cli {
namespace {

std::pair<std::string, std::string> split(const std::string& text) {
  const auto last_colon = text.rfind(':');
  if (!text.empty() && text.front() == '[') {
    const auto end = text.find(']');
    if (end == std::string::npos) return {text, ""};
    const bool port_follows = end + 1 < text.size() && text[end + 1] == ':';
    return {text.substr(1, end - 1), port_follows ? text.substr(end + 2) : ""};
  }
  const bool bare_ipv6 = last_colon != text.find(':');
  if (last_colon == std::string::npos || bare_ipv6) return {text, ""};
  return {text.substr(0, last_colon), text.substr(last_colon + 1)};
}

}  // namespace

Result<Peer> resolve_peer(const std::string& text, std::uint16_t default_port) {
  const auto [host, port_text] = split(text);
  std::uint16_t port = default_port;
  if (!port_text.empty()) {
    const char* end = port_text.data() + port_text.size();
    const auto parsed = std::from_chars(port_text.data(), end, port);
    if (parsed.ec != std::errc{} || parsed.ptr != end || port == 0) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' is no port", port_text),
                   "1 to 65535, as in HOST:48555"};
    }
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, [](addrinfo* a) {
    if (a != nullptr) ::freeaddrinfo(a);
  });
  const auto ip =
      status == 0 && found != nullptr ? datapath::ip_address_of(*found->ai_addr) : std::nullopt;
  if (!ip) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("cannot find host '{}': {}", host,
                             status != 0 ? ::gai_strerror(status) : "no IP address"),
                 "give an IP address or a name that resolves here"};
  }
  return Peer{datapath::socket_address(*ip, port), ip->family,
              fmt::format("{} port {}", datapath::to_string(*ip), port)};
}

}  // namespace dlcp::cli
