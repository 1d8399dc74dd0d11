// Conversions of IpAddress from and to text and the kernel's structures.
#include "datapath/address/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace dlcp::datapath {

bool IpAddress::is_loopback() const {
  if (family == IpFamily::kV4) return bytes[0] == 127;
  return bytes[15] == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](auto b) { return b == 0; });
}

bool IpAddress::is_link_local() const {
  return family == IpFamily::kV6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool IpAddress::is_link_scoped() const {
  return is_link_local() || (family == IpFamily::kV4 && bytes[0] == 169 && bytes[1] == 254);
}

bool IpAddress::is_unicast() const {
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (family == IpFamily::kV4) {
    // 0.0.0.0/8 is "this network", 224.0.0.0/4 is multicast, 240.0.0.0/4 is reserved and broadcast.
    return bytes[0] != 0 && bytes[0] < 224;
  }
  const bool is_mapped = std::all_of(bytes.begin(), bytes.begin() + 10, is_zero) &&
                         bytes[10] == 0xff && bytes[11] == 0xff;
  return bytes[0] != 0xff && !is_mapped && !std::all_of(bytes.begin(), bytes.end(), is_zero);
}

SocketAddress socket_address(const IpAddress& ip, std::uint16_t port) {
  SocketAddress result;
  if (ip.family == IpFamily::kV4) {
    result.v4 = {};
    result.v4.sin_family = AF_INET;
    result.v4.sin_port = htons(port);
    std::memcpy(&result.v4.sin_addr, ip.bytes.data(), 4);
    result.size = sizeof(sockaddr_in);
  } else {
    result.v6 = {};
    result.v6.sin6_family = AF_INET6;
    result.v6.sin6_port = htons(port);
    result.v6.sin6_scope_id = ip.scope;
    std::memcpy(&result.v6.sin6_addr, ip.bytes.data(), 16);
    result.size = sizeof(sockaddr_in6);
  }
  return result;
}

std::optional<IpAddress> ip_address_of(const sockaddr& address) {
  IpAddress ip;
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(ip.bytes.data(), &v4.sin_addr, 4);
    return ip;
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    ip.family = IpFamily::kV6;
    std::memcpy(ip.bytes.data(), &v6.sin6_addr, 16);
    ip.scope = ip.is_link_local() ? v6.sin6_scope_id : 0;
    return ip;
  }
  return std::nullopt;
}

std::string to_string(const IpAddress& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(ip.family == IpFamily::kV4 ? AF_INET : AF_INET6, ip.bytes.data(), text, sizeof text);
  return ip.scope == 0 ? std::string(text) : fmt::format("{}%{}", text, ip.scope);
}

Result<IpAddress> parse_ip_address(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("\"{}\" is not an IP address: {}", text, why),
                 "write 10.0.0.1, fd00::1 or fe80::1%eth0"};
  };
  const std::size_t percent = text.find('%');
  const std::string host(text.substr(0, percent));
  IpAddress ip;
  if (::inet_pton(AF_INET, host.c_str(), ip.bytes.data()) == 1)
    return percent == text.npos ? Result<IpAddress>(ip) : bad("an IPv4 address has no scope");
  ip.family = IpFamily::kV6;
  if (::inet_pton(AF_INET6, host.c_str(), ip.bytes.data()) != 1)
    return bad("it has the form of neither IPv4 nor IPv6");
  if (percent == text.npos) return ip;
  const std::string scope(text.substr(percent + 1));
  const auto [end, error] = std::from_chars(scope.data(), scope.data() + scope.size(), ip.scope);
  if (error != std::errc() || end != scope.data() + scope.size())
    ip.scope = ::if_nametoindex(scope.c_str());
  return ip.scope != 0 ? Result<IpAddress>(ip) : bad("its scope names no interface of this host");
}

}  // namespace dlcp::datapath
