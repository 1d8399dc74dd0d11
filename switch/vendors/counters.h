// What the queues of a switch have counted, whoever read it (a command's output, Prometheus, gNMI),
// and whether that is what the plan makes them do. Counters are since the last clear, or over the
// time that a query spans: only which of them are zero, and how they relate, is judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric {

// Packets; nullopt: not counted, or not shown.
struct QueueCounters {
  std::optional<std::uint64_t> packets;
  std::optional<std::uint64_t> drops;        // all of them
  std::optional<std::uint64_t> early_drops;  // by WRED or its like, before the queue was full
  std::optional<std::uint64_t> marks;        // ECN
};

using CounterTable = std::map<std::pair<std::string, int>, QueueCounters>;  // (port, queue)

// DLCP's queues of every port of the plan that the table has, and the site's lossless ones. One
// finding that says so where it has none of them.
std::vector<Finding> judge_counters(const SwitchPlan& plan, const CounterTable& table);

}  // namespace dlcp::fabric
