// A network from the view of collectives: hosts, their leaves, groups of leaves, the distances
// between hosts of a group and the capacity of each group's uplinks. `dlcp order` finds it, `dlcp
// synth` plans for it, the plugin reports from it. Measuring is not done here.
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
  std::string name;                    // as launchers name it; unique
  std::vector<std::string> addresses;  // numeric, the probed one first; may be empty
  // 10^9 bits per second of all its interfaces together, in each direction; 0: not known
  double gb_per_s = 0;
  int slots = 1;        // processes that the launcher starts on it, 1..1024
  bool slow = false;    // has less than half of the usual rate
  bool silent = false;  // answers no probe
};

struct Group {
  std::string name;  // unique
  int parent = -1;   // index in Fabric::groups, less than its own; -1: the top
  // from the group to its parent, in each direction; 0: not known, taken as unlimited
  double uplink_gb_per_s = 0;
  double round_trip_us = 0;  // between hosts whose smallest common group this is; 0: not known
  bool slow = false;         // its uplinks have less than half of its siblings' rate
};

struct Fabric {
  std::vector<Host> hosts;
  std::vector<Group> groups;  // the first is the whole fabric; parents come before their children
  std::vector<int> group_of;  // by host: the smallest group that contains it, its leaf

  // A fabric of one group, in which all hosts are alike.
  static Fabric flat(std::vector<Host> hosts);

  std::size_t size() const { return hosts.size(); }
};

// Checks the conditions stated above; the error names a violated one.
Status check(const Fabric& fabric);

// The smallest group that contains both hosts.
int common_group(const Fabric& fabric, int a, int b);
// 0 for the whole fabric.
int depth_of(const Fabric& fabric, int group);
// Hosts by group, ascending, including those of subgroups.
std::vector<std::vector<int>> members(const Fabric& fabric);
// Groups that contain hosts directly, ascending.
std::vector<int> leaves(const Fabric& fabric);
// Round-trip time between two hosts in microseconds; 0 if not measured.
double round_trip_us(const Fabric& fabric, int a, int b);
// The host with that name or, if there is none, with that address; -1: not found.
int find_host(const Fabric& fabric, const std::string& name);

}  // namespace dlcp::fabric
