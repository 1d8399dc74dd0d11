// A network as collectives see it: hosts, the leaves that they hang on, the groups of leaves above,
// how far hosts of one group are from each other and how much leaves a group. `dlcp order` finds
// it, `dlcp synth` plans for it, the plugin reports from it. No measuring here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/result.h"

namespace dlcp::fabric {

inline constexpr std::size_t kHostsMax = 65536;
inline constexpr std::size_t kGroupDepthMax = 16;
inline constexpr double kGbPerSecondMax = 1e6;
inline constexpr double kMicrosecondsMax = 1e9;

struct Host {
  std::string name;                    // as launchers name it; no two alike
  std::vector<std::string> addresses;  // numeric, the one that was probed first; may be empty
  double gb_per_s = 0;  // all its interfaces together, each way, in 10^9 bits; 0: not known
  int slots = 1;        // processes that the launcher starts there, 1..1024
  bool slow = false;    // carries less than half of what most carry
  bool silent = false;  // answers no probe
};

struct Group {
  std::string name;            // no two alike
  int parent = -1;             // index in Fabric::groups, less than its own; -1: the top
  double uplink_gb_per_s = 0;  // out of the group, each way; 0: not known, taken as no limit
  double round_trip_us = 0;    // between hosts that have no smaller group in common; 0: not known
  bool slow = false;           // its uplinks carry less than half of its siblings'
};

struct Fabric {
  std::vector<Host> hosts;
  std::vector<Group> groups;  // the first is the whole fabric; parents come before their children
  std::vector<int> group_of;  // by host: the smallest group that holds it, its leaf

  // A fabric of one group, in which all hosts are alike.
  static Fabric flat(std::vector<Host> hosts);

  std::size_t size() const { return hosts.size(); }
};

// Whether everything above holds; the error names what does not.
Status check(const Fabric& fabric);

// The smallest group that holds both hosts.
int common_group(const Fabric& fabric, int a, int b);
// 0 for the whole fabric.
int depth_of(const Fabric& fabric, int group);
// Hosts by group, those of its subgroups included, ascending.
std::vector<std::vector<int>> members(const Fabric& fabric);
// Groups that hold hosts directly, ascending.
std::vector<int> leaves(const Fabric& fabric);
// Microseconds there and back between two hosts; 0 where it was not measured.
double round_trip_us(const Fabric& fabric, int a, int b);
// The host of that name or, where `name` is none, of that address; -1: none.
int find_host(const Fabric& fabric, const std::string& name);

}  // namespace dlcp::fabric
