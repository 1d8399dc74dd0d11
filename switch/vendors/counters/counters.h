// The counters of a switch's queues, from any source (a command's output, Prometheus, gNMI), and
// whether they agree with the plan. Counters start at the last clear, or cover the time of a query.
// Therefore only zero or non-zero, and the relations between counters, are judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric {

// In packets; nullopt: not counted, or not shown.
struct QueueCounters {
  std::optional<std::uint64_t> packets;
  std::optional<std::uint64_t> drops;        // total
  std::optional<std::uint64_t> early_drops;  // by WRED or similar, before the queue was full
  std::optional<std::uint64_t> marks;        // ECN
};

using CounterTable = std::map<std::pair<std::string, int>, QueueCounters>;  // (port, queue)

// Judges DLCP's queues of every port of the plan that the table has, and the site's lossless ones.
// A single finding reports that the table has none of them.
std::vector<Finding> judge_counters(const SwitchPlan& plan, const CounterTable& table);

}  // namespace dlcp::fabric
