// Follows a packet of each class hop by hop over planned switches: the queue that serves it, its
// drop level, and the DSCP with which it leaves. This finds faults that the plan of a single switch
// cannot show, such as a next switch that does not map the class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// One port that a packet leaves through.
struct Hop {
  std::string node, port;  // a switch and its port; a host has no port
  std::uint8_t dscp_in = 0, dscp_out = 0;
  std::optional<std::uint8_t> queue, traffic_class;  // nullopt: a host
  std::string carries;                               // owner of the queue: "bulk", "site"
  std::string colour;                                // "green", "yellow", "red"; "" for a host
  std::string treatment;                             // "marked from 103 kB", "dropped from ..."
};

struct ClassTrace {
  TrafficClass traffic_class = TrafficClass::kControl;
  std::string tenant;  // the class's tenant; empty: the first tenant, which has no name
  std::vector<Hop> hops;
  std::string changed;  // where and how the class changes on the path; empty: it does not change
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
// All names that find_endpoint accepts, for messages.
std::vector<std::string> endpoint_names(const std::vector<SwitchPlan>& plans);

// The switches between two endpoints: one path for each distinct sequence of switch treatments.
// Leaf, spine (super-spine, spine) and leaf; one switch if both endpoints are behind it.
std::vector<std::vector<const SwitchPlan*>> paths_between(const std::vector<SwitchPlan>& plans,
                                                          const Endpoint& from, const Endpoint& to);

// One packet of each class of each tenant over one path.
std::vector<ClassTrace> trace(const Endpoint& from, const Endpoint& to,
                              const std::vector<const SwitchPlan*>& path);

// DSCP with which a packet that arrived with `dscp` leaves through port `out`.
std::uint8_t leaving_dscp(const SwitchPlan& plan, const PortGroup& in, const std::string& out,
                          std::uint8_t dscp);

}  // namespace dlcp::fabric
