// Queries the kernel's routing (rtnetlink): which links exist, and which one a packet would leave
// by. Needs no privileges. In a sandbox without netlink the results are empty, and callers leave
// the choice to the kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "datapath/address/ip_address.h"

namespace dlcp::datapath {

struct Link {
  int index = 0;
  int master = 0;  // index of its bridge, bond or VRF; 0: none
  std::string name;
  std::string kind;  // "bridge", "dummy", "vrf", "veth"; empty for hardware and loopback
};

// All links of this network namespace.
std::vector<Link> read_links();
// nullptr if there is no link with that name or index.
const Link* find_link(const std::vector<Link>& links, const std::string& name);
const Link* find_link(const std::vector<Link>& links, int index);

struct RouteQuestion {
  IpAddress to;
  std::optional<IpAddress> from;  // the source address, if specified
  int interface = 0;              // only routes through this link or VRF; 0: any
};

struct KernelRoute {
  int interface = 0;                // the outgoing link
  bool is_local = false;            // the destination is an address of this host
  std::optional<IpAddress> source;  // the source address that the kernel would use
};

// nullopt if there is no such route or the kernel does not answer. If an interface is specified,
// only routes of the routing table count; IPv4 would otherwise assume that every host is on the
// link.
std::optional<KernelRoute> find_route(const RouteQuestion& question);

}  // namespace dlcp::datapath
