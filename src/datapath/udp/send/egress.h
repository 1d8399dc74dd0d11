// Keeps a device's packets on its own interface. The kernel chooses the interface only by
// destination, so with two interfaces in one subnet, or two default routes, it sends all packets
// through the first. If the device's own interface also has a route to the peer, packets name it
// and the device's address (IP_PKTINFO), which needs no privileges. Otherwise the kernel's choice
// is used. It is also used if the interface has a strict reverse-path filter, which drops packets
// that arrive on another interface than that of the route back to their sender, so answers would be
// lost.
//
// Routes change while a job runs: a card is down for a moment, or its driver creates the interface
// again under another index. So the interface is known by its name, and peers that have no route
// through it are asked for again.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "datapath/address/ip_address.h"
#include "util/time.h"

namespace dlcp::datapath {

class Egress {
 public:
  Egress() = default;  // the kernel always decides
  // `interface` is that of the device whose sockets are bound to `own`. Loopback and dummy links
  // send no packets themselves; for them the kernel always decides.
  Egress(const IpAddress& own, const std::string& interface);

  // The interface index to name in packets to `peer`; 0: none, the kernel's choice is right. If the
  // interface has no route to the peer, the kernel is queried again after 1 s, then after twice the
  // time each, up to 4 s.
  int link_for(const IpAddress& peer, Time now);
  // The route to `peer` may have changed: the next call queries the kernel again.
  void forget(const IpAddress& peer) { known_.erase(peer); }

  // The source address to name in packets that name a link. Without it the kernel takes the
  // preferred source of the route, which may be another address of this host.
  const IpAddress& own() const { return own_; }
  // The VRF of the interface. Sockets must be bound to it, or the address does not exist for them.
  // Empty: no VRF.
  const std::string& vrf() const { return vrf_; }

 private:
  struct Hash {
    std::size_t operator()(const IpAddress& ip) const;
  };
  struct Answer {
    int link = 0;
    Time valid_until = kNever;
    Duration valid{0};  // 0: for ever
  };
  struct Route {
    int link = 0;
    bool is_detour = false;  // the interface has no route to the peer
  };
  Route ask(const IpAddress& peer) const;

  IpAddress own_;
  std::string interface_;     // empty: never named in packets
  bool is_filtered_ = false;  // the interface drops packets unless the route back uses it
  int vrf_link_ = 0;
  std::string vrf_;
  std::unordered_map<IpAddress, Answer, Hash> known_;
};

}  // namespace dlcp::datapath
