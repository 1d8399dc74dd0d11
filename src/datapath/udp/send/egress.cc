#include "datapath/udp/send/egress.h"

#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "datapath/udp/interfaces/netlink.h"
#include "datapath/udp/interfaces/reverse_path.h"

namespace dlcp::datapath {
namespace {

constexpr Duration kAskAgain = 1s;
constexpr Duration kAskAgainMax = 4s;  // two questions of 10 us each per peer

}  // namespace

Egress::Egress(const IpAddress& own, const std::string& interface) : own_(own) {
  const std::vector<Link> links = read_links();
  const Link* const link = find_link(links, interface);
  if (link == nullptr || own.is_loopback() || link->kind == "dummy" || interface == "lo") return;
  interface_ = interface;
  is_filtered_ = own.family == IpFamily::kV4 && filters_strictly(interface);
  const Link* const master = find_link(links, link->master);
  if (master != nullptr && master->kind == "vrf") {
    vrf_ = master->name;
    vrf_link_ = master->index;
  }
}

std::size_t Egress::Hash::operator()(const IpAddress& ip) const {
  std::uint64_t halves[2];
  std::memcpy(halves, ip.bytes.data(), sizeof halves);
  return (halves[0] ^ halves[1] * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 16;
}

int Egress::link_for(const IpAddress& peer, Time now) {
  if (interface_.empty() || peer.is_link_local()) return 0;  // the scope determines the link
  const auto [at, is_new] = known_.try_emplace(peer);
  Answer& answer = at->second;
  if (!is_new && now < answer.valid_until) return answer.link;
  const Route route = ask(peer);
  answer.link = route.link;
  answer.valid = route.is_detour ? std::clamp(2 * answer.valid, kAskAgain, kAskAgainMax) : 0s;
  answer.valid_until = route.is_detour ? now + answer.valid : kNever;
  return answer.link;
}

Egress::Route Egress::ask(const IpAddress& peer) const {
  const auto link = static_cast<int>(::if_nametoindex(interface_.c_str()));
  const auto chosen = find_route({peer, own_, vrf_link_});
  if (chosen && (chosen->is_local || (link != 0 && chosen->interface == link) || is_filtered_))
    return {};
  if (link != 0 && find_route({peer, own_, link})) return {link, false};
  return {0, true};
}

}  // namespace dlcp::datapath
