// An IPv4 or IPv6 address in binary form, with the scope of a link-local one, and its conversion
// from and to text and the kernel's structures. Host names are not resolved here.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.h"

namespace dlcp::datapath {

enum class IpFamily : std::uint8_t { kV4 = 4, kV6 = 6 };

struct IpAddress {
  IpFamily family = IpFamily::kV4;
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 uses the first four
  std::uint32_t scope = 0;               // interface index of a link-local IPv6 address, else 0

  bool is_loopback() const;
  bool is_link_local() const;  // fe80::/10 only: 169.254/16 of IPv4 needs no scope
  // Valid on one link only: fe80::/10 and 169.254/16.
  bool is_link_scoped() const;
  bool is_unicast() const;  // a single host: not unspecified, multicast, broadcast or IPv4-mapped

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// The kernel's structure for either family, with a port.
struct SocketAddress {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  socklen_t size = 0;

  SocketAddress() : v6{} {}
};

SocketAddress socket_address(const IpAddress& ip, std::uint16_t port);
// Returns nullopt for any other address family.
std::optional<IpAddress> ip_address_of(const sockaddr& address);

std::string to_string(const IpAddress& ip);  // "10.0.0.1", "fe80::1%3"
// Accepts the format of to_string(); the scope may also be an interface name.
Result<IpAddress> parse_ip_address(std::string_view text);

}  // namespace dlcp::datapath
