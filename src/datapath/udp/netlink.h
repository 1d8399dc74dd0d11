// Questions to the kernel's routing (rtnetlink): which links there are, and by which of them a
// packet would leave. Needs no privileges. A sandbox that has no netlink gives empty answers, and
// callers then leave the choice to the kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "datapath/ip_address.h"

namespace dlcp::datapath {

struct Link {
  int index = 0;
  int master = 0;  // index of the bridge, bond or VRF that it belongs to; 0: none
  std::string name;
  std::string kind;  // "bridge", "dummy", "vrf", "veth"; empty for hardware and loopback
};

// All links of this network namespace.
std::vector<Link> read_links();
// nullptr if there is none of that name, or of that index.
const Link* find_link(const std::vector<Link>& links, const std::string& name);
const Link* find_link(const std::vector<Link>& links, int index);

struct RouteQuestion {
  IpAddress to;
  std::optional<IpAddress> from;  // the source address, if it is given
  int interface = 0;              // only routes by this link (or VRF); 0: any
};

struct KernelRoute {
  int interface = 0;                // the link by which packets leave
  bool is_local = false;            // the destination is an address of this host
  std::optional<IpAddress> source;  // the address that the kernel would use
};

// nullopt: there is no such route, or the kernel does not answer. With an interface, only a route
// of the routing table counts; IPv4 would otherwise assume that any host is on the link.
std::optional<KernelRoute> find_route(const RouteQuestion& question);

}  // namespace dlcp::datapath
