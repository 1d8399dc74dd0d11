// Checks DLCP's rows against SONiC's constraints: fields, ranges, choices and references are data
// (switch/targets/sonic.json); relations between two fields of a row are checked here.
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "switch/targets/target_files.h"
#include "switch/vendors/sonic/document.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/target/limits.h"

namespace dlcp::fabric::sonic {
namespace {

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
        (row.after ? written_ : removed_).insert(row.table + " " + row.key);
  }

  void check(const RowChange& row) {
    if (!row.after) return;
    row_ = row.table + "|" + row.key;
    if (!row.after->is_object()) return fault("", "a row is an object of fields");
    if (names_map(row.table) && !is_name(row.key))
      fault(row.key, "at most 32 characters of A-Z a-z 0-9 - _, beginning with a letter or digit");
    // Fields of the site that DLCP does not change are not checked.
    for (const auto& [name, value] : row.after->items())
      if (!row.before || row.before->value(name, Json()) != value)
        check_values(row.table + " row ", name, value);  // names of rows are not checked
    if (row.table == "WRED_PROFILE")
      for (const char* colour : {"green", "yellow", "red"})
        ordered(*row.after, fmt::format("{}_min_threshold", colour),
                fmt::format("{}_max_threshold", colour));
    if (row.table == "SCHEDULER" && row.after->contains("pir")) {
      if (!row.after->contains("cir")) fault("pir", "a row that also has cir");
      ordered(*row.after, "cir", "pir");
    }
  }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  void fault(std::string seen, std::string expected) {
    problems_.push_back({Severity::kError, "", 0, row_ + " is not valid in SONiC", std::move(seen),
                         std::move(expected),
                         "change the setting of the intent from which this value follows"});
  }

  void ordered(const Json& row, const std::string& low, const std::string& high) {
    const auto first = counter_of(text_field(row, low.c_str()));
    const auto second = counter_of(text_field(row, high.c_str()));
    if (first && second && *first > *second)
      fault(fmt::format("{} {}", high, *second), fmt::format("at least {} {}", low, *first));
  }

  // Checks the elements of lists, and of priorities such as "3,4", one by one.
  void check_values(const std::string& row, const std::string& name, const Json& value) {
    if (value.is_array()) {
      for (const auto& one : value)
        check_value(row, name, one.is_string() ? one.get<std::string>() : one.dump());
      return;
    }
    if (!value.is_string()) return fault(name + " " + value.dump(), "a string");
    std::istringstream list(value.get<std::string>());
    const char between = name == "pfcwd_sw_enable" ? ',' : '\0';
    std::string one;
    do {
      std::getline(list, one, between);
      check_value(row, name, one);
    } while (!list.eof());
  }

  void check_value(const std::string& row, const std::string& name, const std::string& value) {
    auto said = row + name + " " + value;
    if (fine_.count(said) != 0) return;  // the same for rows of many ports
    const auto count = problems_.size();
    const auto judged = tree::judge_limits(limits().ranges, said);
    if (!judged.described) fault(name + " " + value, "a field that SONiC has");
    for (const auto& one : judged.faults)
      fault(name + " " + value, one.expected);
    for (const auto& [pattern, object] : limits().references)
      if (const auto held = pattern.match(said))
        if (!exists(object.filled(*held)))
          fault(name + " " + value, "a row of " + words_of(object.text()).front());
    if (problems_.size() == count) fine_.insert(std::move(said));
  }

  bool exists(const std::string& row) const {
    if (written_.count(row) != 0) return true;
    const auto space = row.find(' ');
    return removed_.count(row) == 0 &&
           find_row(config_, row.substr(0, space), row.substr(space + 1)) != nullptr;
  }

  const Json& config_;
  std::set<std::string> written_, removed_;
  std::set<std::string> fine_;
  std::string row_;
  std::vector<Problem> problems_;
};

}  // namespace

const Limits& limits() {
  static const Limits kLimits = [] {
    Limits read;
    for (const TargetFile& file : target_files()) {
      const Json data = Json::parse(file.data);
      if (data.at("os") != "sonic") continue;
      read = {tree::ranges_of(data), tree::references_of(data), {}};
      tree::add_refusals(read.refused, data, "refuse");
      tree::add_refusals(read.refused, data, "warn", true);
    }
    return read;
  }();
  return kLimits;
}

std::vector<Problem> check_rows(const Json& config, const std::vector<Patch>& patches) {
  Checker checker(config, patches);
  for (const auto& patch : patches)
    for (const auto& row : patch.rows)
      checker.check(row);
  return checker.take();
}

}  // namespace dlcp::fabric::sonic
