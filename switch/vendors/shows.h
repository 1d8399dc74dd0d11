// A target's show commands as data: which to run, what to look for, and how counters are printed.
//
//   counters  kind -> lines with holes. The last {port} and {queue} that a line named are those
//   that
//             counts on later lines are of; {count} is of the line's kind, {packets} and the like
//             of their own ("rows" are such lines, and not one of them unless all are numbers);
//             "others" begins what is about something else. JSON is read as one line
//             for each leaf: "egress-queue-stats 3 tx-frames 1000".
//   tables    a header that begins with these words, and which column holds what
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/tree/pattern.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric {

struct ShownTable {
  std::vector<std::string> begins;
  std::map<std::string, tree::Pattern> columns;  // by the header's word
};

struct ShownCommand {
  VerifyCommand says;
  std::string since, before;  // releases that have it; empty: all
  std::string feature;        // only where the plan has it: "trimming", "pfc_watchdog"
};

struct Shows {
  std::vector<ShownCommand> on_switch, on_port, at_last;
  std::map<std::string, std::vector<tree::Pattern>> counters;
  std::vector<ShownTable> tables;
  std::string ports_begin;     // where names of ports are printed without it,
  std::string ports_short;     // or with this instead
  std::string expected, hint;  // of a capture that has no counters
};

// Of "verify_switch", "verify_port" and "verify_last" (command, what it shows, the release that it
// came with, that which has it no more, the feature that it is about), "counters", "tables" and
// "capture".
Shows shows_of(const nlohmann::json& data);
// Of a target whose file has them under "shows".
Shows shows_of_target(std::string_view os);

// Those of the switch, and those of the first port of each group, as its release has them. Those of
// the switch that name a {port} are there for each group, too, in their place.
std::vector<VerifyCommand> commands_of(const Shows& shows, const SwitchPlan& plan);

// `queue_of`: the number of a queue that goes by this name. Errors: no counters in the capture.
Checked<std::vector<Finding>> judge_shown(
    const Shows& shows, const SwitchPlan& plan, const NamedText& captured,
    const std::function<std::optional<int>(const std::string&)>& queue_of);
// Queues go by their numbers.
std::optional<int> queue_by_number(const std::string& name);

}  // namespace dlcp::fabric
