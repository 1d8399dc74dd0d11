// The queues that telemetry watches in a fabric: DLCP's queues, with the figures that alerts
// compare with, and the site's lossless ones. Switches with equal queues share one entry, so that
// rules for a thousand leaves are as short as for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"
#include "switch/telemetry/names.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::telemetry {

// The meaning of loss in a queue.
enum class Part {
  kControl,  // acknowledgements only: no loss is planned
  kExact,    // nothing in it may be dropped early
  kSheds,    // drops early, and only droppable packets
  kMixed,    // drops early, and also carries exact or control packets
};
const char* name_of(Part part);  // "control", "exact", "sheds", "mixed"

struct WatchedQueue {
  int queue = 0;
  std::string label;    // the telemetry's label for it
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
  std::vector<int> priorities;  // priorities on which a pause frame would stop DLCP
  bool same_as(const Watch& other) const;
};

// The entry of one switch; its document must be in memory.
Watch watch_of(const SwitchPlan& plan, const Vendor& vendor);
// The entries of a fabric: equal ones joined, in order of first appearance, and named.
std::vector<Watch> joined(const std::vector<Watch>& switches);

}  // namespace dlcp::fabric::telemetry
