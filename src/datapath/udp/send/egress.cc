#include "datapath/udp/send/egress.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "datapath/udp/interfaces/netlink.h"
#include "datapath/udp/interfaces/reverse_path.h"

namespace dlcp::datapath {

Egress::Egress(const IpAddress& own, const std::string& interface) : own_(own) {
  const std::vector<Link> links = read_links();
  const Link* const link = find_link(links, interface);
  if (link == nullptr || own.is_loopback() || link->kind == "dummy" || interface == "lo") return;
  link_ = link->index;
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

int Egress::link_for(const IpAddress& peer) {
  if (link_ == 0 || peer.is_link_local()) return 0;  // the scope determines the link
  const auto found = known_.find(peer);
  return found != known_.end() ? found->second : known_.emplace(peer, ask(peer)).first->second;
}

int Egress::ask(const IpAddress& peer) const {
  const auto chosen = find_route({peer, own_, vrf_link_});
  if (chosen && (chosen->is_local || chosen->interface == link_ || is_filtered_)) return 0;
  return find_route({peer, own_, link_}) ? link_ : 0;
}

}  // namespace dlcp::datapath
