#include "interface_choice.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>

namespace reftcp {

bool matches(const std::string& pattern, const std::string& name) {
  std::size_t at = 0;
  const bool exclude = pattern[at] == '^';
  if (exclude) at++;
  const bool exact = at < pattern.size() && pattern[at] == '=';
  if (exact) at++;
  bool listed = false;
  while (at < pattern.size()) {
    std::size_t end = pattern.find(',', at);
    if (end == std::string::npos) end = pattern.size();
    const std::string item = pattern.substr(at, end - at);
    if (!item.empty() && (exact ? name == item : name.compare(0, item.size(), item) == 0))
      listed = true;
    at = end + 1;
  }
  return listed != exclude;
}

namespace {

// IPv4 before IPv6, link-local IPv6 never; 0 is unusable.
int rank_of(const ifaddrs& entry, const char* pattern) {
  if (entry.ifa_addr == nullptr || !(entry.ifa_flags & IFF_UP)) return 0;
  int rank = 0;
  if (entry.ifa_addr->sa_family == AF_INET) rank = 2;
  if (entry.ifa_addr->sa_family == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
    if (!IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) rank = 1;
  }
  if (rank == 0) return 0;
  if (pattern != nullptr && *pattern != '\0') return matches(pattern, entry.ifa_name) ? rank : 0;
  const bool last_resort =
      (entry.ifa_flags & IFF_LOOPBACK) || std::strncmp(entry.ifa_name, "docker", 6) == 0;
  return last_resort ? rank : rank + 2;
}

}  // namespace

std::optional<LocalAddress> choose_local_address() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  std::optional<LocalAddress> best;
  int best_rank = 0;
  const char* pattern = std::getenv("NCCL_SOCKET_IFNAME");
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const int rank = rank_of(*entry, pattern);
    if (rank <= best_rank) continue;
    best_rank = rank;
    best.emplace();
    best->interface = entry->ifa_name;
    best->length =
        entry->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&best->address, entry->ifa_addr, best->length);
  }
  freeifaddrs(list);
  return best;
}

}  // namespace reftcp
