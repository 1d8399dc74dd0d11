// A target's show commands as data: which to run, what to look for, and how counters are printed.
//
//   counters  kind -> lines with holes. Counts on later lines belong to the last {port} and {queue}
//             that a line named. {count} belongs to the line's kind, {packets}, {drops} and so on
//             to their own kinds ("rows" are such lines; they count only if all are numbers).
//             "others" begins a part about something else. JSON is read as one line for each leaf:
//             "egress-queue-stats 3 tx-frames 1000".
//   tables    a header that begins with these words, and the meaning of its columns
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/tree/statement/pattern.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric {

struct ShownTable {
  std::vector<std::string> begins;
  std::map<std::string, tree::Pattern> columns;  // by the word in the header
};

struct ShownCommand {
  VerifyCommand says;
  std::string since, before;  // releases that have it; empty: all
  std::string feature;        // only for plans with this feature: "trimming", "pfc_watchdog"
};

struct Shows {
  std::vector<ShownCommand> on_switch, on_port, at_last;
  std::map<std::string, std::vector<tree::Pattern>> counters;
  std::vector<ShownTable> tables;
  std::string ports_begin;     // prefix that printed port names lack,
  std::string ports_short;     // or the prefix that replaces it
  std::string expected, hint;  // for a capture without counters
};

// From "verify_switch", "verify_port" and "verify_last" (command, its purpose, the first release
// with it, the first release without it, its feature), "counters", "tables" and "capture".
Shows shows_of(const nlohmann::json& data);
// Of a target whose file has them under "shows".
Shows shows_of_target(std::string_view os);

// Commands of the switch, and of the first port of each group, for its release. A command of the
// switch that names a {port} is repeated for each group.
std::vector<VerifyCommand> commands_of(const Shows& shows, const SwitchPlan& plan);

// `queue_of`: the number of the queue with this name. Errors: no counters in the capture.
Checked<std::vector<Finding>> judge_shown(
    const Shows& shows, const SwitchPlan& plan, const NamedText& captured,
    const std::function<std::optional<int>(const std::string&)>& queue_of);
// For targets that identify queues by number.
std::optional<int> queue_by_number(const std::string& name);

}  // namespace dlcp::fabric
