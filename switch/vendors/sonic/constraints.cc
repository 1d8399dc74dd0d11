// What SONiC accepts, as a table: fields, ranges, choices and references of the
// rows that DLCP writes. From sonic-yang-models
// (sonic-{wred-profile,scheduler,queue,port-qos-map,dscp-tc-map,
// tc-queue-map,tc-priority-group-map,buffer-profile,buffer-queue,hash,trimming,pfcwd}.yang)
// and, where it is narrower, from orchagent (qosorch.cpp reads thresholds as
// int and knows no scheduler priority).
#include <fmt/format.h>

#include <limits>
#include <set>

#include "switch/vendors/sonic/document.h"

namespace dlcp::fabric::sonic {
namespace {

enum class Kind { kNumber, kChoice, kReference, kEntries, kList, kPriorities };

struct Field {
  const char* table;
  const char* field;  // kEntries: the row's own keys, up to `key_max`
  Kind kind;
  std::int64_t min = 0, max = 0;
  const char* choices = "";  // kChoice, kList: "|a|b|"; kReference: the table referred to
  std::int64_t key_max = 0;
};

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kRateMax = 1'000'000'000'000;  // 8 Tb/s in bytes; the model has no limit
constexpr const char* kBool = "|true|false|";
constexpr const char* kHash =
    "|IN_PORT|DST_MAC|SRC_MAC|ETHERTYPE|VLAN_ID|IP_PROTOCOL|DST_IP|SRC_IP|L4_DST_PORT|L4_SRC_PORT"
    "|INNER_DST_MAC|INNER_SRC_MAC|INNER_ETHERTYPE|INNER_IP_PROTOCOL|INNER_DST_IP|INNER_SRC_IP"
    "|INNER_L4_DST_PORT|INNER_L4_SRC_PORT|IPV6_FLOW_LABEL|";

constexpr Field kFields[] = {
    {"WRED_PROFILE", "green_min_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "green_max_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "yellow_min_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "yellow_max_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "red_min_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "red_max_threshold", Kind::kNumber, 0, kIntMax},
    {"WRED_PROFILE", "green_drop_probability", Kind::kNumber, 0, 100},
    {"WRED_PROFILE", "yellow_drop_probability", Kind::kNumber, 0, 100},
    {"WRED_PROFILE", "red_drop_probability", Kind::kNumber, 0, 100},
    {"WRED_PROFILE", "wred_green_enable", Kind::kChoice, 0, 0, kBool},
    {"WRED_PROFILE", "wred_yellow_enable", Kind::kChoice, 0, 0, kBool},
    {"WRED_PROFILE", "wred_red_enable", Kind::kChoice, 0, 0, kBool},
    {"WRED_PROFILE", "ecn", Kind::kChoice, 0, 0,
     "|ecn_none|ecn_green|ecn_yellow|ecn_red|ecn_green_yellow|ecn_green_red|ecn_yellow_red|ecn_all"
     "|"},
    {"SCHEDULER", "type", Kind::kChoice, 0, 0, "|DWRR|WRR|STRICT|"},
    {"SCHEDULER", "weight", Kind::kNumber, 1, 100},
    {"SCHEDULER", "meter_type", Kind::kChoice, 0, 0, "|packets|bytes|"},
    {"SCHEDULER", "cir", Kind::kNumber, 1, kRateMax},
    {"SCHEDULER", "pir", Kind::kNumber, 1, kRateMax},
    {"SCHEDULER", "cbs", Kind::kNumber, 0, 4'294'967'295},
    {"SCHEDULER", "pbs", Kind::kNumber, 0, 4'294'967'295},
    {"QUEUE", "scheduler", Kind::kReference, 0, 0, "SCHEDULER"},
    {"QUEUE", "wred_profile", Kind::kReference, 0, 0, "WRED_PROFILE"},
    {"BUFFER_QUEUE", "profile", Kind::kReference, 0, 0, "BUFFER_PROFILE"},
    {"BUFFER_PROFILE", "pool", Kind::kReference, 0, 0, "BUFFER_POOL"},
    {"BUFFER_PROFILE", "size", Kind::kNumber, 0, kIntMax},
    {"BUFFER_PROFILE", "dynamic_th", Kind::kNumber, -8, 7},
    {"PORT_QOS_MAP", "dscp_to_tc_map", Kind::kReference, 0, 0, "DSCP_TO_TC_MAP"},
    {"PORT_QOS_MAP", "tc_to_queue_map", Kind::kReference, 0, 0, "TC_TO_QUEUE_MAP"},
    {"PORT_QOS_MAP", "tc_to_pg_map", Kind::kReference, 0, 0, "TC_TO_PRIORITY_GROUP_MAP"},
    {"PORT_QOS_MAP", "pfcwd_sw_enable", Kind::kPriorities},
    {"BUFFER_PROFILE", "packet_discard_action", Kind::kChoice, 0, 0, "|drop|trim|"},
    {"SWITCH_TRIMMING", "size", Kind::kNumber, 1, 4'294'967'295},
    {"SWITCH_TRIMMING", "dscp_value", Kind::kNumber, 0, 63},
    {"SWITCH_TRIMMING", "queue_index", Kind::kNumber, 0, 255},
    {"PFC_WD", "action", Kind::kChoice, 0, 0, "|drop|forward|alert|"},
    {"PFC_WD", "detection_time", Kind::kNumber, 100, 5000},
    {"PFC_WD", "restoration_time", Kind::kNumber, 100, 60000},
    {"DSCP_TO_TC_MAP", "", Kind::kEntries, 0, 15, "", 63},
    {"TC_TO_QUEUE_MAP", "", Kind::kEntries, 0, 9, "", 15},
    {"TC_TO_PRIORITY_GROUP_MAP", "", Kind::kEntries, 0, 7, "", 15},
    {"SWITCH_HASH", "ecmp_hash", Kind::kList, 0, 0, kHash},
    {"SWITCH_HASH", "lag_hash", Kind::kList, 0, 0, kHash},
};

const Field* field_of(const std::string& table, const std::string& name) {
  for (const auto& field : kFields)
    if (table == field.table && (field.kind == Kind::kEntries || name == field.field))
      return &field;
  return nullptr;
}

std::optional<std::int64_t> signed_of(const std::string& text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (text.size() > 18 || text.size() == (negative ? 1u : 0u)) return std::nullopt;
  if (text.find_first_not_of("0123456789", negative ? 1 : 0) != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

bool names_map(const std::string& table) {
  return table == "WRED_PROFILE" || table.find("_TO_") != std::string::npos;
}

bool is_name(const std::string& name) {
  if (name.empty() || name.size() > kMapNameMax) return false;
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (const char c : name)
    if (!plain(c) && c != '-' && c != '_') return false;
  return plain(name[0]);
}

class Checker {
 public:
  Checker(const Json& config, const std::vector<Patch>& patches) : config_(config) {
    for (const auto& patch : patches)
      for (const auto& row : patch.rows)
        (row.after ? written_ : removed_).insert(row.table + "|" + row.key);
  }

  void check(const RowChange& row) {
    if (!row.after) return;
    row_ = row.table + "|" + row.key;
    if (!row.after->is_object()) return fault("", "a row is an object of fields");
    if (names_map(row.table) && !is_name(row.key))
      fault(row.key, "at most 32 of A-Z a-z 0-9 - _, a letter or digit first");
    // A row of the site keeps fields that DLCP knows nothing of; those are not for it to judge.
    for (const auto& [name, value] : row.after->items()) {
      if (row.before && row.before->value(name, Json()) == value) continue;
      const Field* field = field_of(row.table, name);
      if (field == nullptr)
        fault(name, "a field that SONiC has");
      else
        check_value(*field, name, value);
    }
    if (row.table == "WRED_PROFILE")
      for (const char* colour : {"green", "yellow", "red"})
        ordered(*row.after, fmt::format("{}_min_threshold", colour),
                fmt::format("{}_max_threshold", colour));
    if (row.table == "SCHEDULER" && row.after->contains("pir")) {
      if (!row.after->contains("cir")) fault("pir", "a cir beside it");
      ordered(*row.after, "cir", "pir");
    }
  }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  void fault(std::string seen, std::string expected) {
    problems_.push_back({Severity::kError, "", 0, row_ + " would not be accepted by SONiC",
                         std::move(seen), std::move(expected),
                         "lower what leads to this value in the intent file"});
  }

  void ordered(const Json& row, const std::string& low, const std::string& high) {
    const auto first = signed_of(text_field(row, low.c_str()));
    const auto second = signed_of(text_field(row, high.c_str()));
    if (first && second && *first > *second)
      fault(fmt::format("{} {}", high, *second), fmt::format("at least {} {}", low, *first));
  }

  void check_value(const Field& field, const std::string& name, const Json& value) {
    if (field.kind == Kind::kList) {
      for (const auto& one : value)
        if (!one.is_string() || !chosen(field, one.get<std::string>()))
          fault(one.dump(), fmt::format("fields of {}", field.choices));
      return;
    }
    if (!value.is_string()) return fault(name + " " + value.dump(), "a string");
    const auto text = value.get<std::string>();
    if (field.kind == Kind::kNumber || field.kind == Kind::kEntries) {
      const auto number = signed_of(text);
      if (!number || *number < field.min || *number > field.max)
        fault(name + " " + text, fmt::format("{}..{}", field.min, field.max));
      const auto key = field.kind == Kind::kEntries ? number_of(name) : 0;
      if (!key || *key > field.key_max) fault(name, fmt::format("0..{}", field.key_max));
    } else if (field.kind == Kind::kPriorities && !are_priorities(text)) {
      fault(name + " " + text, "priorities 0..7 with commas, as in 3,4");
    } else if (field.kind == Kind::kChoice && !chosen(field, text)) {
      fault(name + " " + text, fmt::format("one of {}", field.choices));
    } else if (field.kind == Kind::kReference && !exists(field.choices, text)) {
      fault(name + " " + text, fmt::format("a row of {}", field.choices));
    }
  }

  static bool are_priorities(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at)
      if (at % 2 == 0 ? text[at] < '0' || text[at] > '7' : text[at] != ',') return false;
    return text.size() % 2 == 1;
  }
  static bool chosen(const Field& field, const std::string& text) {
    return std::string_view(field.choices).find("|" + text + "|") != std::string_view::npos;
  }

  bool exists(const std::string& table, const std::string& key) const {
    const auto row = table + "|" + key;
    if (written_.count(row) != 0) return true;
    return removed_.count(row) == 0 && find_row(config_, table, key) != nullptr;
  }

  const Json& config_;
  std::set<std::string> written_, removed_;
  std::string row_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> check_rows(const Json& config, const std::vector<Patch>& patches) {
  Checker checker(config, patches);
  for (const auto& patch : patches)
    for (const auto& row : patch.rows)
      checker.check(row);
  return checker.take();
}

}  // namespace dlcp::fabric::sonic
