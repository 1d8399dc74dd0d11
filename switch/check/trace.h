// A packet of each class followed hop by hop over planned switches: which queue serves it, as what
// drop level, and with which DSCP it goes on. What the plan of one switch cannot see, whether the
// next one still knows the class, is seen here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// One port that a packet leaves through.
struct Hop {
  std::string node, port;  // a switch and its port; a host, and no port
  std::uint8_t dscp_in = 0, dscp_out = 0;
  std::optional<std::uint8_t> queue, traffic_class;  // nullopt: a host
  std::string carries;                               // "bulk", "site": whose queue it is
  std::string colour;                                // "green", "yellow", "red"; "" of a host
  std::string treatment;                             // "marked from 103 kB", "dropped from ..."
};

struct ClassTrace {
  TrafficClass traffic_class = TrafficClass::kControl;
  std::string tenant;  // whose; empty: the first tenant's, which has no name
  std::vector<Hop> hops;
  std::string changed;  // where and how the class changes on the way; empty: it does not
};

// Where a packet enters or leaves the fabric.
struct Endpoint {
  std::string host;
  const SwitchPlan* device = nullptr;
  const PortGroup* group = nullptr;
  std::string port;
};

// A host of `hosts:`, "SWITCH:PORT", or a switch (its first host port).
std::optional<Endpoint> find_endpoint(const std::vector<SwitchPlan>& plans,
                                      const std::string& name);
// All names that find_endpoint knows, for messages.
std::vector<std::string> endpoint_names(const std::vector<SwitchPlan>& plans);

// The switches between two endpoints: every way that differs in what its switches do. Leaf, spine
// (super-spine, spine) and leaf; one switch where both are behind it.
std::vector<std::vector<const SwitchPlan*>> paths_between(const std::vector<SwitchPlan>& plans,
                                                          const Endpoint& from, const Endpoint& to);

// One packet of each class of each tenant over one path.
std::vector<ClassTrace> trace(const Endpoint& from, const Endpoint& to,
                              const std::vector<const SwitchPlan*>& path);

// What leaves a port of the switch that came in with this DSCP.
std::uint8_t leaving_dscp(const SwitchPlan& plan, const PortGroup& in, const std::string& out,
                          std::uint8_t dscp);

}  // namespace dlcp::fabric
