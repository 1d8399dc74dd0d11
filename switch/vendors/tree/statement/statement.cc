#include "switch/vendors/tree/statement/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "switch/vendors/text/json_keys.h"
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/truncated.h"
#include "switch/vendors/text/words.h"

namespace dlcp::fabric::tree {
namespace {

constexpr std::size_t kDepthMax = 32;
constexpr std::string_view kInto = " > ";

class Reading {
 public:
  Reading(const Reader& reader, const std::string& file) : reader_(reader), file_(file) {}

  Checked<Statements> finish() {
    if (statements_.empty() && !has_errors(problems_))
      fault(0, "this file contains neither QoS nor interfaces", "", "");
    Checked<Statements> result;
    if (!has_errors(problems_)) result.value = std::move(statements_);
    result.problems = std::move(problems_);
    return result;
  }

  void blocks(const std::string& text) {
    struct Open {
      std::size_t indent;
      std::string path;
    };
    std::vector<Open> open;
    std::size_t at_end = 0;
    each_line(text, [&](std::string line, int number) {
      const auto indent = line.find_first_not_of(" \t");
      line = one_spaced(line);
      if (indent == 0 && line == reader_.ends_with) {
        if (ended_ && read_ > at_end)
          fault(number, "a second configuration ends here", line, "one file for each switch");
        ended_ = true;
        at_end = read_;
      }
      const bool kept = !reader_.kept_comment.empty() && line.starts_with(reader_.kept_comment);
      if (!kept && (line[0] == '!' || line[0] == '#' || line == "exit" || line == "end")) return;
      while (!open.empty() && open.back().indent >= indent)
        open.pop_back();
      auto path = open.empty() ? line : open.back().path + std::string(kInto) + line;
      if (open.size() >= kDepthMax) return;
      add_each(path, number);
      open.push_back({indent, std::move(path)});
    });
    if (!ended_ && !reader_.ends_with.empty())
      problems_.push_back(
          {Severity::kWarning, file_, 0,
           fmt::format("the file has no `{}` at its end: the configuration may be truncated",
                       reader_.ends_with),
           "", fmt::format("`{}`, the last line that the switch prints", reader_.ends_with), ""});
    else
      check_last_line(text);
  }

  void flat(const std::string& text) {
    each_line(text, [&](const std::string& raw, int number) {
      std::string line = one_spaced(raw);
      if (line.starts_with("deactivate "))
        return fault(number, "deactivated statements are not supported", line,
                     "a configuration without them");
      if (!line.starts_with(reader_.prefix)) return;
      line.erase(0, reader_.prefix.size());
      const auto open = line.find(" [ ");
      const auto close = line.find(" ]");
      if (open == std::string::npos || close == std::string::npos || close < open + 3)
        return add(line, number);
      for (const auto& value : words_of(line.substr(open + 3, close - open - 3)))
        add(line.substr(0, open) + " " + value, number);
    });
    check_last_line(text);
  }

  void json(const std::string& text) {
    const auto tree = read_json(file_, text);
    if (!tree.value) {
      problems_ = tree.problems;
      return;
    }
    Place root;
    walk(*tree.value, root, 0);
  }

 private:
  // A complete last line needs no line end.
  void check_last_line(const std::string& text) {
    if (!reader_.ends_with.empty()) return;
    if (auto problem = truncated_last_line(file_, text)) problems_.push_back(std::move(*problem));
  }

  void fault(int line, std::string what, std::string seen, std::string expected) {
    if (problems_.size() > 20) return;
    problems_.push_back(
        {Severity::kError, file_, line, std::move(what), std::move(seen), std::move(expected), ""});
  }

  static std::string one_spaced(const std::string& line) {
    const auto begin = line.find_first_not_of(' ');
    const auto last = line.find_last_not_of(' ');
    bool is_so = begin != std::string::npos;
    for (std::size_t at = begin; is_so && at <= last; ++at)
      is_so = !is_white(line[at]) || (line[at] == ' ' && line[at + 1] != ' ');
    if (is_so) return line.substr(begin, last + 1 - begin);  // the usual case
    std::string text;
    for (const auto& word : words_of(line))
      text += (text.empty() ? "" : " ") + word;
    return text;
  }

  template <class Take>
  void each_line(const std::string& text, Take take) {
    if (text.find('\0') != std::string::npos) return fault(0, "this is not text", "", "");
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      at = end + 1;
      ++number;
      const auto begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos) continue;
      if (line[begin] == '%' || line.compare(begin, 2, "> ") == 0 ||
          line.compare(begin, 7, "error: ") == 0)
        fault(number, "this is an error message of the switch", line.substr(begin),
              "its running configuration");
      if (line.find("--More--") != std::string::npos)
        fault(number, "the output of the switch was paged", line.substr(begin),
              "the whole output, without paging");
      take(std::move(line), number);
    }
  }

  // Adds a statement for every number that the line names.
  void add_each(const std::string& text, int line) {
    for (const NumberList& list : reader_.lists) {
      if (!text.starts_with(list.before)) continue;
      const auto end = text.find(list.after, list.before.size());
      if (end == std::string::npos) continue;
      auto names = text.substr(list.before.size(), end - list.before.size());
      if (names.find(" > ") != std::string::npos) continue;  // a statement inside the block
      std::replace(names.begin(), names.end(), ',', ' ');
      for (const auto& word : words_of(names)) {
        const auto range = range_of(word);
        if (!range || range->second > list.max)
          return fault(line, "not a list of numbers", word, fmt::format("numbers 0..{}", list.max));
        for (int number = range->first; number <= range->second; ++number)
          add(fmt::format("{}{}{}", list.before, number, text.substr(end)), line);
      }
      return;
    }
    add(text, line);
  }

  // "7", "10-12"; nullopt: anything else.
  static std::optional<std::pair<int, int>> range_of(std::string_view word) {
    const auto dash = word.find('-');
    const auto first = number_of(word.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(word.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    return std::pair{*first, *last};
  }

  // A file belongs to one switch: another switch name begins the next switch's configuration.
  bool is_name(const std::string& text, int line) {
    const auto& before = reader_.names_itself;
    if (before.empty() || !text.starts_with(before)) return false;
    check_switch_name(text.substr(before.size()), text, line);
    return true;
  }

  void check_switch_name(const std::string& name, const std::string& text, int line) {
    if (name_.empty())
      name_ = name;
    else if (name_ != name)
      fault(line, "this file has the configurations of two switches, " + name_ + " and " + name,
            text, "one file for each switch");
  }

  void add(std::string text, int line) {
    if (is_name(text, line)) return;
    const auto wanted = [&text](const std::string& root) { return text.starts_with(root); };
    if (std::none_of(reader_.roots.begin(), reader_.roots.end(), wanted)) return;
    ++read_;
    // Exports of several commands repeat lines: `show running-config ipqos` and `interface`.
    if (reader_.syntax == Syntax::kBlocks && !seen_.insert(text).second) return;
    if (statements_.size() < kStatementsMax) return statements_.push_back({std::move(text), line});
    if (!full_)
      fault(line, "the configuration is too large", "",
            fmt::format("{} statements at most", kStatementsMax));
    full_ = true;
  }

  // "openconfig-qos:qos" and "qos" are the same name.
  static std::string_view plain(std::string_view name) { return name.substr(name.find(':') + 1); }

  // A scalar of one word; nullopt: any other value, which DLCP's statements never have.
  static std::optional<std::string> word_of(const nlohmann::json& value) {
    if (value.is_structured()) return std::nullopt;
    auto text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.empty() || text.find_first_of(" \t\n\r>") != std::string::npos) return std::nullopt;
    return text;
  }

  // The output of gnmic for a Get: each value has the path that was requested.
  void walk_updates(const nlohmann::json& updates) {
    if (!updates.is_array()) return;
    for (const auto& update : updates) {
      if (!update.is_object() || !update.contains("values")) continue;
      for (const auto& [path, value] : update["values"].items()) {
        Place place;
        std::istringstream steps(path);
        for (std::string step; std::getline(steps, step, '/');)
          if (!step.empty()) place.enter(plain(step));
        walk(value, place, 1);
      }
    }
  }

  // The words of an entry's keys; nullopt: a key is missing, or is more than one word.
  std::optional<std::string> keys_in(const nlohmann::json& item,
                                     const std::vector<std::string>& keys) {
    std::string text;
    for (const auto& key : keys) {
      const auto word = item.contains(key) ? word_of(item[key]) : std::nullopt;
      if (item.contains(key) && !word)
        fault(0, "names with spaces are not supported", item[key].dump(), "names without spaces");
      if (!word) return std::nullopt;
      text = with_word(text, *word);
    }
    return text;
  }

  // The position in the tree: with the keys of lists, and without. Both strings are changed in
  // place, as every leaf has a path.
  struct Place {
    std::string path, names;

    void enter(std::string_view name) {
      add_to(path, name);
      add_to(names, name);
    }
    void enter_entry(std::string_view keys) { add_to(path, keys); }
    void leave(std::size_t path_size, std::size_t names_size) {
      path.resize(path_size);
      names.resize(names_size);
    }

   private:
    static void add_to(std::string& text, std::string_view word) {
      if (!text.empty()) text += ' ';
      text += word;
    }
  };

  // `keys`: leaves that are part of the path already.
  void walk(const nlohmann::json& node, Place& place, std::size_t depth,
            const std::vector<std::string>& keys = {}) {
    if (depth > kDepthMax) return;
    if (node.is_array() && place.path.empty()) {  // several answers in one array
      for (const auto& item : node)
        walk(item, place, depth + 1);
      return;
    }
    if (!node.is_object()) {
      if (const auto word = word_of(node); word && !place.path.empty())
        add(with_word(place.path, *word), 0);
      return;
    }
    if (place.path.empty() && node.contains("updates")) {
      if (const auto from = node.find("source"); from != node.end() && from->is_string())
        check_switch_name(from->get<std::string>(), "source: " + from->get<std::string>(), 0);
      return walk_updates(node["updates"]);
    }
    if (!place.path.empty() && node.size() == keys.size())
      add(place.path, 0);  // an empty container
    const auto path_size = place.path.size(), names_size = place.names.size();
    for (const auto& [long_name, value] : node.items()) {
      const auto name = plain(long_name);
      if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
      place.enter(name);
      if (value.is_array())
        walk_list(value, place, depth);
      else
        walk(value, place, depth + 1);
      place.leave(path_size, names_size);
    }
  }

  void walk_list(const nlohmann::json& list, Place& place, std::size_t depth) {
    const auto [known, is_new] = keys_.try_emplace(place.names);
    if (is_new) known->second = keys_of(reader_.json, place.names);
    const std::vector<std::string>& keys = known->second;  // a reference that remains valid
    const auto path_size = place.path.size(), names_size = place.names.size();
    for (const auto& item : list) {
      if (!item.is_object()) {
        walk(item, place, depth + 1);
      } else if (const auto words = keys_in(item, keys); words && !words->empty()) {
        place.enter_entry(*words);
        walk(item, place, depth + 1, keys);
        place.leave(path_size, names_size);
      }
    }
  }

  const Reader& reader_;
  const std::string& file_;
  std::unordered_map<std::string, std::vector<std::string>>
      keys_;  // of lists, by the names that lead to them
  Statements statements_;
  std::size_t read_ = 0;                  // statements, with repeated ones
  std::unordered_set<std::string> seen_;  // of blocks
  std::string name_;                      // of the switch, if the configuration contains it
  bool ended_ = false;                    // the system's usual last line was read
  bool full_ = false;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<std::string> keys_of(const JsonShape& shape, std::string_view names) {
  std::string_view longest, key;
  for (const auto& [list, leaf] : shape.keys) {
    const bool fits = names == list || (names.ends_with(list) && names.size() > list.size() &&
                                        names[names.size() - list.size() - 1] == ' ');
    if (!fits || list.size() <= longest.size()) continue;
    longest = list;
    key = leaf;
  }
  return words_of(std::string(key));
}

Checked<Statements> read_statements(const Reader& reader, const std::string& file,
                                    const std::string& text) {
  Reading reading(reader, file);
  switch (reader.syntax) {
    case Syntax::kBlocks:
      reading.blocks(text);
      break;
    case Syntax::kFlat:
      reading.flat(text);
      break;
    case Syntax::kJson:
      reading.json(text);
      break;
    case Syntax::kOperations:
      return read_operations(reader, file, text);
  }
  return reading.finish();
}

std::vector<std::string> contexts_of(std::string_view statement) {
  std::vector<std::string> contexts;
  for (;;) {
    const auto at = statement.find(kInto);
    contexts.emplace_back(statement.substr(0, at));
    if (at == std::string_view::npos) return contexts;
    statement.remove_prefix(at + kInto.size());
  }
}

bool is_under(std::string_view statement, std::string_view root) {
  return statement.starts_with(root) &&
         (statement.size() == root.size() || statement[root.size()] == ' ');
}

}  // namespace dlcp::fabric::tree
