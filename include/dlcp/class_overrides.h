// Overrides of kTrafficClasses for one site. The plugin (file of DLCP_CLASSES) and dlcp-switch
// (dlcp.classes of the intent) read the same text, so that sender and switch agree:
//
//   control.dscp = 48                   # begins a comment
//   bulk-middle.drop_precedence = 3     1 = dropped last ... 3 = dropped first
//   urgent-protected.queue = bulk       exact, urgent or bulk
//   exact.ecn = ect1                    ect0 or ect1; classes that are dropped early stay not-ECT
//   bulk.levels = 3                     2 or 3: whether bulk-middle is in use
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "dlcp/traffic_class.h"

namespace dlcp {

using TrafficClassTable = std::array<TrafficClassRow, kTrafficClassCount>;

struct ClassOverrideError {
  int line = 0;  // 1-based; 0 if the error concerns the table as a whole
  std::string what, seen, expected;
};

namespace class_overrides {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

inline bool set_number(std::uint8_t& to, std::string_view text, unsigned min, unsigned max) {
  unsigned value = 0;
  const auto at = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = at.ec == std::errc() && at.ptr == text.data() + text.size();
  if (!whole || value < min || value > max) return false;
  to = static_cast<std::uint8_t>(value);
  return true;
}

// Sets one field. Returns an empty string on success, otherwise the range of valid values.
inline std::string set_field(TrafficClassRow& row, std::string_view field, std::string_view value) {
  if (field == "dscp") return set_number(row.dscp, value, 0, 63) ? "" : "0 to 63";
  if (field == "drop_precedence") {
    const bool set = set_number(row.drop_precedence, value, 1, 3);
    return set ? "" : "1 (dropped last) to 3 (dropped first)";
  }
  if (field == "queue") {
    if (row.queue == SwitchQueue::kStrictHigh) return "no change: control has the strict queue";
    if (value != "exact" && value != "urgent" && value != "bulk") return "exact, urgent or bulk";
    row.queue = value == "exact"    ? SwitchQueue::kExact
                : value == "urgent" ? SwitchQueue::kUrgent
                                    : SwitchQueue::kBulk;
    return "";
  }
  if (field != "ecn") return "one of dscp, drop_precedence, queue, ecn";
  if (row.ecn == Ecn::kNotEct) return "no change: the class is dropped early because it is not ECT";
  if (value != "ect0" && value != "ect1") return "ect0 or ect1";
  row.ecn = value == "ect0" ? Ecn::kEct0 : Ecn::kEct1;
  return "";
}

}  // namespace class_overrides

// Applies every valid line of `text` to `table` and `shares`. Returns the errors of the other
// lines, followed by the errors of the resulting table: two classes in different queues must not
// share a DSCP.
inline std::vector<ClassOverrideError> apply_class_overrides(std::string_view text,
                                                             TrafficClassTable& table,
                                                             LevelShares& shares) {
  std::vector<ClassOverrideError> errors;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const auto line = class_overrides::trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const auto equals = line.find('=');
    const auto name = class_overrides::trimmed(line.substr(0, equals));
    const auto dot = name.find('.');
    if (equals == std::string_view::npos || dot == std::string_view::npos) {
      errors.push_back({number, "not an override", std::string(line), "class.field = value"});
      continue;
    }
    const auto value = class_overrides::trimmed(line.substr(equals + 1));
    if (name == "bulk.levels") {
      if (value == "2" || value == "3")
        shares = value == "3" ? kThreeLevelShares : kTwoLevelShares;
      else
        errors.push_back({number, "cannot set bulk.levels", std::string(value), "2 or 3"});
      continue;
    }
    TrafficClassRow* found = nullptr;
    for (TrafficClassRow& row : table)
      if (name.substr(0, dot) == row.name) found = &row;
    if (found == nullptr) {
      errors.push_back({number, "unknown class", std::string(name.substr(0, dot)),
                        "a class of dlcp/traffic_class.h, such as " + std::string(table[0].name)});
      continue;
    }
    const auto expected = class_overrides::set_field(*found, name.substr(dot + 1), value);
    if (!expected.empty())
      errors.push_back({number, "cannot set " + std::string(name), std::string(value), expected});
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t j = i + 1; j < table.size(); ++j) {
      if (table[i].dscp != table[j].dscp || table[i].queue == table[j].queue) continue;
      errors.push_back({0, std::string(table[i].name) + " and " + table[j].name + " share a DSCP",
                        std::to_string(table[i].dscp), "one DSCP per queue"});
    }
  }
  return errors;
}

}  // namespace dlcp
