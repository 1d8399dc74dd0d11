// Which local address the reference plugin listens on: NCCL_SOCKET_IFNAME with NCCL's grammar (a
// comma list of prefixes; a leading ^ excludes, a leading = wants exact names). Without it the
// first interface that is up and neither loopback nor docker, else loopback.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

namespace reftcp {

struct LocalAddress {
  std::string interface;
  sockaddr_storage address{};
  socklen_t length = 0;
};

// True if `name` is chosen by `pattern` (never empty).
bool matches(const std::string& pattern, const std::string& name);

std::optional<LocalAddress> choose_local_address();

}  // namespace reftcp
