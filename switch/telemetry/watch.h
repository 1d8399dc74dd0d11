// What there is to watch on the switches of a fabric: DLCP's queues with the figures that alerts
// compare with, and the site's lossless ones. Switches of which all of it is equal are one entry,
// so that rules for a thousand leaves are those of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"
#include "switch/telemetry/names.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::telemetry {

// What loss in a queue means.
enum class Part {
  kControl,  // acknowledgements alone: no loss is planned
  kExact,    // nothing in it may be dropped early
  kSheds,    // drops early, and only what may be lost
  kMixed,    // drops early, and exact or control packets are in it
};
const char* name_of(Part part);  // "control", "exact", "sheds", "mixed"

struct WatchedQueue {
  int queue = 0;
  std::string label;    // what telemetry calls it
  std::string carries;  // "bulk"
  std::string dscps;    // "10 12 14"
  Part part = Part::kExact;
  std::string shed;       // classes that are dropped early; empty: none
  double shed_share = 0;  // their planned share of the queue's bytes
  bool marks = false;
  std::uint64_t limit_bytes = 0;
  bool operator==(const WatchedQueue&) const = default;
};

struct WatchedPorts {
  std::string role;
  std::uint64_t bits_per_second = 0;
  std::vector<std::string> ports;
  std::vector<WatchedQueue> queues;
  bool operator==(const WatchedPorts&) const = default;
};

struct WatchedLossless {
  int queue = 0;
  std::string label;
  bool operator==(const WatchedLossless&) const = default;
};

struct Watch {
  std::string name;  // "plan-1"
  const Names* names = nullptr;
  std::string os, version;
  std::vector<std::string> switches;
  std::vector<WatchedPorts> groups;
  std::vector<WatchedLossless> lossless;
  std::vector<int> priorities;  // those on which a pause frame would stop DLCP
  bool same_as(const Watch& other) const;
};

// Of one switch, while its document is in memory.
Watch watch_of(const SwitchPlan& plan, const Vendor& vendor);
// Of the fabric: equal ones joined, in the order in which they first come, and named.
std::vector<Watch> joined(const std::vector<Watch>& switches);

}  // namespace dlcp::fabric::telemetry
