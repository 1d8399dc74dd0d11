// Reads the output of show commands as a target's data describes it.
#include "switch/vendors/counters/shows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "switch/targets/target_files.h"
#include "switch/vendors/counters/counters.h"
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/words.h"

namespace dlcp::fabric {
namespace {

// Normalises a line: one space between words, without table bars and without the prefix of flat
// statements.
std::string plain(std::string line) {
  std::replace(line.begin(), line.end(), '|', ' ');
  std::string text;
  for (const auto& word : words_of(line)) {
    if (text.empty() && (word == "set" || word == "/")) continue;
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// Converts JSON between lines of text to statements: "egress-queue-stats 3 tx-frames 1000".
void each_leaf(const nlohmann::json& node, const std::string& path, int depth,
               const std::function<void(const std::string&)>& take) {
  constexpr int kDepthMax = 16;
  if (depth > kDepthMax) return;
  if (node.is_structured())
    for (const auto& [key, value] : node.items())
      each_leaf(value, path + (node.is_object() ? key + " " : ""), depth + 1, take);
  else
    take(path + (node.is_string() ? node.get<std::string>() : node.dump()));
}

class CounterReader {
 public:
  CounterReader(const Shows& shows,
                const std::function<std::optional<int>(const std::string&)>& queue_of)
      : shows_(shows), queue_of_(queue_of) {}

  CounterTable read(const std::string& text) {
    std::istringstream lines(text);
    std::string json;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!json.empty() || line.starts_with("{")) {
        json += line + "\n";
        if (take_json(json)) json.clear();
      } else {
        const auto words = words_of(line);
        if (!take_row(words)) take(plain(line));
      }
    }
    for (auto& [place, row] : table_) {
      const auto tail = tails_.find(place);
      if (!row.drops && tail != tails_.end())
        row.drops = tail->second + row.early_drops.value_or(0);
    }
    return std::move(table_);
  }

 private:
  // A JSON document ends with a line that begins with its closing brace.
  bool take_json(const std::string& text) {
    const auto last = text.rfind('\n', text.size() - 2);
    const auto begin = last == std::string::npos ? 0 : last + 1;
    if (text[begin] != '}' && begin != 0) return false;
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded()) return begin != 0;  // complete, but not readable
    each_leaf(document, "", 0, [this](const std::string& leaf) { take(leaf); });
    return true;
  }

  // A line of a table, or its header.
  bool take_row(const std::vector<std::string>& words) {
    for (const ShownTable& table : shows_.tables) {
      const auto& begins = table.begins;
      if (words.size() <= begins.size() || !std::equal(begins.begin(), begins.end(), words.begin()))
        continue;
      table_now_ = &table;
      header_ = words;
      return true;
    }
    if (table_now_ == nullptr || words.size() != header_.size()) return false;
    tree::Captures row;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto column = table_now_->columns.find(header_[i]);
      if (column == table_now_->columns.end()) continue;
      const auto held = column->second.match(words[i]);
      if (!held) return true;  // a row about something else
      row.insert(held->begin(), held->end());
    }
    take("table", row);
    return true;
  }

  void take(const std::string& line) {
    for (const auto& [name, patterns] : shows_.counters)
      for (const tree::Pattern& pattern : patterns)
        if (const auto held = pattern.match(line)) take(name, *held);
  }

  // "Et1/1", "1/1", "Ethernet1/1" all become the last form.
  std::string whole_name(const std::string& text) const {
    if (text.starts_with(shows_.ports_begin)) return text;
    const auto& shortly = shows_.ports_short;
    return shows_.ports_begin + (text.starts_with(shortly) ? text.substr(shortly.size()) : text);
  }

  static bool is_place(const std::string& hole) { return hole == "port" || hole == "queue"; }

  void take(const std::string& name, const tree::Captures& held) {
    const bool counts = std::all_of(held.begin(), held.end(), [](const auto& one) {
      return is_place(one.first) || counter_of(one.second).has_value();
    });
    if (name == "rows" && !counts) return;
    if (name == "others") port_.clear();  // later lines are not about queues
    for (const auto& [hole, text] : held) {
      if (hole == "port") port_ = whole_name(text);
      if (hole == "queue") queue_ = queue_of_(text);
    }
    for (const auto& [hole, text] : held) {
      if (is_place(hole) || hole == "*") continue;
      // "4694465219/601918012926": packets, and bytes.
      put(hole == "count" ? name : hole,
          counter_of(std::string_view(text).substr(0, text.find('/'))));
    }
  }

  void put(const std::string& name, std::optional<std::uint64_t> count) {
    if (port_.empty() || !queue_ || !count) return;
    const std::pair place{port_, *queue_};
    QueueCounters* row = nullptr;
    const auto keep = [&](const char* counter, std::optional<std::uint64_t> QueueCounters::*to) {
      if (name != counter) return;
      row = &table_[place];
      row->*to = count;
    };
    keep("packets", &QueueCounters::packets);
    keep("drops", &QueueCounters::drops);
    keep("early_drops", &QueueCounters::early_drops);
    keep("marks", &QueueCounters::marks);
    if (name != "tail_drops") return;
    table_[place];
    tails_[place] = *count;
  }

  const Shows& shows_;
  const std::function<std::optional<int>(const std::string&)>& queue_of_;
  const ShownTable* table_now_ = nullptr;
  std::vector<std::string> header_;
  CounterTable table_;
  std::map<std::pair<std::string, int>, std::uint64_t> tails_;  // tail drops only
  std::string port_;
  std::optional<int> queue_;
};

using Json = nlohmann::json;

std::vector<ShownCommand> commands_in(const Json& data, const char* key) {
  std::vector<ShownCommand> list;
  for (const auto& row : data.value(key, Json::array()))
    list.push_back({{row.at(0).get<std::string>(), row.at(1).get<std::string>()},
                    row.size() > 2 ? row.at(2).get<std::string>() : std::string(),
                    row.size() > 3 ? row.at(3).get<std::string>() : std::string(),
                    row.size() > 4 ? row.at(4).get<std::string>() : std::string()});
  return list;
}

bool exists(const ShownCommand& command, const SwitchPlan& plan) {
  if (command.feature == "trimming" && !plan.features.trimming) return false;
  if (command.feature == "pfc_watchdog" && !plan.features.pfc_watchdog) return false;
  return (command.since.empty() || is_since(plan.os, plan.version, command.since)) &&
         (command.before.empty() || !is_since(plan.os, plan.version, command.before));
}

}  // namespace

Shows shows_of(const Json& data) {
  Shows shows;
  shows.on_switch = commands_in(data, "verify_switch");
  shows.on_port = commands_in(data, "verify_port");
  shows.at_last = commands_in(data, "verify_last");
  const Json counters = data.value("counters", Json::object());
  for (const auto& [name, list] : counters.items())
    for (const auto& text : list)
      shows.counters[name].emplace_back(text.get<std::string>());
  for (const auto& row : data.value("tables", Json::array())) {
    ShownTable table{row.at("begins").get<std::vector<std::string>>(), {}};
    for (const auto& [word, text] : row.at("columns").items())
      table.columns.emplace(word, tree::Pattern(text.get<std::string>()));
    shows.tables.push_back(std::move(table));
  }
  shows.ports_begin = data.value("ports_begin", "");
  shows.ports_short = data.value("ports_short", "");
  const std::string first =
      shows.on_port.empty() ? "" : "`" + shows.on_port.front().says.command + "`";
  const Json capture = data.value("capture", Json::object());
  shows.expected = capture.value("expected", "output of " + first);
  shows.hint = capture.value("hint", "capture it for every port that you want to check");
  return shows;
}

Shows shows_of_target(std::string_view os) {
  for (const TargetFile& file : target_files()) {
    const auto data = Json::parse(file.data);
    if (data.at("os") == os) return shows_of(data.at("shows"));
  }
  return {};
}

std::vector<VerifyCommand> commands_of(const Shows& shows, const SwitchPlan& plan) {
  std::vector<VerifyCommand> list;
  const auto add = [&](const ShownCommand& row, const std::string& port) {
    if (exists(row, plan))
      list.push_back({tree::Pattern(row.says.command).filled({{"port", port}}), row.says.shows});
  };
  const auto add_of_switch = [&](const std::vector<ShownCommand>& rows) {
    for (const ShownCommand& row : rows) {
      if (row.says.command.find("{port}") == std::string::npos) {
        add(row, "");
        continue;
      }
      for (const auto& group : plan.groups)
        if (!group.group.ports.empty()) add(row, group.group.ports.front());
    }
  };
  add_of_switch(shows.on_switch);
  for (const auto& group : plan.groups)
    for (const ShownCommand& row : shows.on_port)
      if (!group.group.ports.empty()) add(row, group.group.ports.front());
  add_of_switch(shows.at_last);
  return list;
}

Checked<std::vector<Finding>> judge_shown(
    const Shows& shows, const SwitchPlan& plan, const NamedText& captured,
    const std::function<std::optional<int>(const std::string&)>& queue_of) {
  const auto table = CounterReader(shows, queue_of).read(captured.text);
  if (table.empty())
    return Checked<std::vector<Finding>>::failed({Severity::kError,
                                                  captured.file,
                                                  0,
                                                  "no queue counters found",
                                                  {},
                                                  shows.expected,
                                                  shows.hint});
  Checked<std::vector<Finding>> result;
  result.value = judge_counters(plan, table);
  return result;
}

std::optional<int> queue_by_number(const std::string& name) {
  const auto number = number_of(name);
  return number && *number < kQueueCount ? number : std::nullopt;
}

}  // namespace dlcp::fabric
