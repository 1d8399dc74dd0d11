// Keeps a device's packets on its own card. The kernel picks a card by destination alone, so with
// two cards in one subnet, or two default routes, it sends everything by the first. Where the
// device's own link has a route to the peer as well, packets name it (IP_PKTINFO), which needs no
// privileges. Where it has none the kernel's choice stands.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "datapath/ip_address.h"

namespace dlcp::datapath {

class Egress {
 public:
  Egress() = default;  // the kernel always decides
  // `interface`: of the device whose sockets are bound to `own`. Loopback and dummy links carry no
  // packets themselves: with them the kernel always decides.
  Egress(const IpAddress& own, const std::string& interface);

  // Index of the link to name for packets to `peer`; 0: none, the kernel's choice is right.
  int link_for(const IpAddress& peer);
  // Routes may have changed: asks the kernel anew.
  void forget() { known_.clear(); }

  // What sockets have to be bound to for the address to exist at all: the VRF that the interface
  // belongs to. Empty: nothing.
  const std::string& vrf() const { return vrf_; }

 private:
  struct Hash {
    std::size_t operator()(const IpAddress& ip) const;
  };
  int ask(const IpAddress& peer) const;

  IpAddress own_;
  int link_ = 0;  // 0: never named
  int vrf_link_ = 0;
  std::string vrf_;
  std::unordered_map<IpAddress, int, Hash> known_;
};

}  // namespace dlcp::datapath
