#include "cli/doctor/peer/peer_name.h"

#include <fmt/format.h>
#include <netdb.h>

#include <memory>

#include "util/text/host_port.h"

namespace dlcp::cli {

Result<Peer> resolve_peer(const std::string& text) {
  const auto parts = split_host_port(text);
  if (!parts) return parts.error();
  const std::string& host = parts.value().host;
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
  if (ip->is_link_local() && ip->scope == 0) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("'{}' is a link-local address without an interface", host),
                 fmt::format("name the interface: {}%eth0", host)};
  }
  return Peer{*ip, parts.value().port};
}

}  // namespace dlcp::cli
