// Holds the rows that DLCP writes against what SONiC accepts: fields, ranges, choices and
// references, from fields.json.
#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>

#include "switch/vendors/embedded.h"
#include "switch/vendors/numbers.h"
#include "switch/vendors/sonic/document.h"

namespace dlcp::fabric::sonic {
namespace {

enum class Kind { kNumber, kChoice, kReference, kEntries, kList, kPriorities };

struct Field {
  Kind kind = Kind::kNumber;
  std::int64_t min = 0, max = 0;
  std::string choices;       // kChoice, kList: "|a|b|"; kReference: the table referred to
  std::int64_t key_max = 0;  // kEntries: of the row's own keys
};

// [min, max]; "|a|b|"; "priorities"; {"row": TABLE}; {"list": "|a|b|"}; {"keys": max, "values":
// [min, max]}.
Field field_from(const Json& data) {
  if (data.is_array())
    return {Kind::kNumber, data.at(0).get<std::int64_t>(), data.at(1).get<std::int64_t>(), "", 0};
  if (data == "priorities") return {Kind::kPriorities, 0, 0, "", 0};
  if (data.is_string()) return {Kind::kChoice, 0, 0, data.get<std::string>(), 0};
  if (data.contains("row")) return {Kind::kReference, 0, 0, data.at("row").get<std::string>(), 0};
  if (data.contains("list")) return {Kind::kList, 0, 0, data.at("list").get<std::string>(), 0};
  Field field = field_from(data.at("values"));
  field.kind = Kind::kEntries;
  field.key_max = data.at("keys").get<std::int64_t>();
  return field;
}

using Fields = std::map<std::string, std::map<std::string, Field>>;

Fields read_fields() {
  Fields fields;
  const Json data = Json::parse(embedded::kSonicFields);
  for (const auto& [table, rows] : data.at("fields").items())
    for (const auto& [name, row] : rows.items())
      fields[table].emplace(name, field_from(row));
  return fields;
}

// "*" is every key of its table's rows.
const Field* field_of(const std::string& table, const std::string& name) {
  static const Fields kFields = read_fields();
  const auto fields = kFields.find(table);
  if (fields == kFields.end()) return nullptr;
  auto field = fields->second.find("*");
  if (field == fields->second.end()) field = fields->second.find(name);
  return field == fields->second.end() ? nullptr : &field->second;
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
    return field.choices.find("|" + text + "|") != std::string::npos;
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
