#include "switch/vendors/tree/rows.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "switch/vendors/words.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Prints statements as nested blocks: the contexts that a line needs, where they are not open.
class Blocks {
 public:
  Blocks(const Target& target, std::string& out) : target_(target), out_(out) {}

  void take_away(const std::string& statement) { line(statement, true, false); }
  // `opens`: statements inside of this one follow.
  void add(const std::string& statement, bool opens) { line(statement, false, opens); }

 private:
  void line(const std::string& statement, bool takes_away, bool opens) {
    auto path = contexts_of(statement);
    std::size_t same = 0;
    while (same < open_.size() && same + 1 < path.size() && open_[same] == path[same])
      ++same;
    for (std::size_t depth = same; depth < path.size(); ++depth) {
      const bool last = depth + 1 == path.size();
      const std::string indent(target_.indent * depth, ' ');
      if (depth > 0 && (!last || opens) && !target_.separator.empty())
        out_ += indent + target_.separator + "\n";
      out_ += indent + (last && takes_away ? target_.no : "") + path[depth] + "\n";
    }
    if (takes_away) path.pop_back();
    open_ = std::move(path);
  }

  const Target& target_;
  std::string& out_;
  std::vector<std::string> open_;
};

bool overwrites(const Row& row) {
  return row.change == Change::kOverwrite || row.change == Change::kOverwriteLine;
}

void take_away(const Row& row, Blocks& blocks) {
  const bool whole = row.after.empty() || row.change == Change::kReplace;
  if (row.before.empty() || (overwrites(row) && !row.after.empty())) return;
  if (row.change == Change::kOverwrite || (whole && contains(row.before, row.scope)))
    return blocks.take_away(row.scope);
  for (auto at = row.before.rbegin(); at != row.before.rend(); ++at)
    if (!contains(row.after, *at)) blocks.take_away(*at);
}

void print_blocks(const Target& target, const Row& row, std::string& out) {
  Blocks blocks(target, out);
  take_away(row, blocks);
  for (std::size_t i = 0; i < row.after.size(); ++i) {
    if (row.change == Change::kLines && contains(row.before, row.after[i])) continue;
    const bool opens =
        i + 1 < row.after.size() && row.after[i + 1].starts_with(row.after[i] + " > ");
    blocks.add(row.after[i], opens);
  }
  const bool is_block = row.after.size() > 1 && row.after.front() == row.scope;
  if (is_block && !target.separator.empty()) out += target.separator + "\n";
}

std::string delete_prefix(const std::string& prefix) {
  return "delete" + (prefix.starts_with("set") ? prefix.substr(3) : " ");
}

void print_flat(const Target& target, const Row& row, std::string& out) {
  const auto& prefix = target.reader.prefix;
  if (!row.before.empty()) out += delete_prefix(prefix) + row.scope + "\n";
  for (const auto& statement : row.after)
    out += prefix + statement + "\n";
}

// A node's name with the module that it needs one of, as RFC 7951 has it.
std::string named(const JsonShape& shape, const std::string& names, const std::string& name) {
  const auto module = shape.modules.find(names);
  return module == shape.modules.end() ? name : module->second + ":" + name;
}

std::string joined(const std::string& names, const std::string& name) {
  return names.empty() ? name : names + " " + name;
}

// What keys a list has, looked up once for each list.
class Keys {
 public:
  explicit Keys(const JsonShape& shape) : shape_(shape) {}
  const JsonShape& shape() const { return shape_; }
  const std::vector<std::string>& of(const std::string& names) {
    const auto [at, is_new] = known_.try_emplace(names);
    if (is_new) at->second = keys_of(shape_, names);
    return at->second;
  }

 private:
  const JsonShape& shape_;
  std::unordered_map<std::string, std::vector<std::string>> known_;
};

// "qos queues queue q5" -> "/qos/queues/queue[name=q5]"; `names` gets what leads there without
// keys.
std::string path_of(Keys& known, const std::string& scope, std::string& names) {
  std::string path;
  const auto words = words_of(scope);
  for (std::size_t i = 0; i < words.size(); ++i) {
    names = joined(names, words[i]);
    path += "/" + named(known.shape(), names, words[i]);
    const auto& keys = known.of(names);
    if (i + keys.size() >= words.size()) continue;
    for (const auto& key : keys)
      path += "[" + key + "=" + words[++i] + "]";
  }
  return path;
}

// A leaf is named by as many of the names that lead to it as tell it apart.
bool is_of(const std::vector<std::string>& list, const std::string& names) {
  return std::any_of(list.begin(), list.end(), [&names](const std::string& one) {
    return names == one || names.ends_with(" " + one);
  });
}

Json scalar(const JsonShape& shape, const std::string& names, const std::string& value) {
  if (is_of(shape.booleans, names)) return value == "true";
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (is_of(shape.numbers, names) && read.ec == std::errc() && read.ptr == end) return number;
  return value;
}

// One statement, without its scope, into the tree below the scope.
void put(Keys& known, Json& node, const std::string& names, const std::vector<std::string>& words,
         std::size_t at) {
  if (at >= words.size()) return;
  const JsonShape& shape = known.shape();
  const auto here = joined(names, words[at]);
  const auto name = named(shape, here, words[at]);
  const auto& keys = known.of(here);
  if (!keys.empty() && at + keys.size() < words.size()) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i)
      entry[keys[i]] = scalar(shape, joined(here, keys[i]), words[at + 1 + i]);
    Json& list = node[name];
    if (list.is_null()) list = Json::array();
    const auto same = std::find_if(list.begin(), list.end(), [&](const Json& item) {
      return std::all_of(keys.begin(), keys.end(),
                         [&](const auto& key) { return item[key] == entry[key]; });
    });
    if (same != list.end()) return put(known, *same, here, words, at + 1 + keys.size());
    list.push_back(std::move(entry));
    return put(known, list.back(), here, words, at + 1 + keys.size());
  }
  if (at + 2 < words.size()) return put(known, node[name], here, words, at + 1);
  if (at + 1 == words.size()) {  // a container that is there, and says no more
    if (node[name].is_null()) node[name] = Json::object();
    return;
  }
  const Json value = scalar(shape, here, words[at + 1]);
  if (!is_of(shape.leaf_lists, here)) {
    node[name] = value;
  } else {
    if (node[name].is_null()) node[name] = Json::array();
    node[name].push_back(value);
  }
}

// The value of a row: a tree, or of a leaf its scalar.
Json value_of(Keys& known, const Row& row, const std::string& names) {
  Json value = Json::object();
  for (const auto& statement : row.after) {
    const auto words = words_of(statement.substr(row.scope.size()));
    if (words.size() == 1 && row.after.size() == 1) return scalar(known.shape(), names, words[0]);
    put(known, value, names, words, 0);
  }
  return value;
}

std::string gnmi_text(const Target& target, const std::vector<Row>& rows) {
  Keys known(target.reader.json);
  Json deletes = Json::array(), replaces = Json::array();
  for (const Row& row : rows) {
    std::string names;
    const auto path = path_of(known, row.scope, names);
    if (row.after.empty()) {
      deletes.push_back(path);
      continue;
    }
    Json replace = Json::object();  // moved, not copied: these trees are most of the text
    replace["path"] = path;
    replace["encoding"] = "json_ietf";
    replace["value"] = value_of(known, row, names);
    replaces.push_back(std::move(replace));
  }
  Json request = Json::object();
  if (!deletes.empty()) request["deletes"] = std::move(deletes);
  if (!replaces.empty()) request["replaces"] = std::move(replaces);
  return request.dump(2) + "\n";
}

// Rows are most of what is written: they are not made objects of first.
std::string in_quotes(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  return plain ? '"' + text + '"' : Json(text).dump();
}

std::string list_text(const std::vector<std::string>& list) {
  if (list.empty()) return "[]";
  std::string text = "[";
  for (const auto& one : list)
    text += (text.size() > 1 ? ",\n    " : "\n    ") + in_quotes(one);
  return text + "\n   ]";
}

}  // namespace

std::string change_text(const Target& target, const std::vector<Row>& rows) {
  if (target.reader.syntax == Syntax::kJson) return gnmi_text(target, rows);
  std::string out;
  for (const Row& row : rows) {
    if (target.reader.syntax == Syntax::kBlocks)
      print_blocks(target, row, out);
    else
      print_flat(target, row, out);
  }
  return out;
}

std::vector<Row> reversed(const std::vector<Row>& rows) {
  std::vector<Row> back;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    back.push_back({row->scope, row->after, row->before, row->change, row->hitless});
  return back;
}

std::string guard_text(const Target& target, const std::vector<Row>& rows) {
  constexpr const char* kSyntax[] = {"blocks", "flat", "json"};
  Json guard;
  guard["syntax"] = kSyntax[static_cast<int>(target.reader.syntax)];
  guard["prefix"] = target.reader.prefix;
  guard["keys"] = target.reader.json.keys;
  for (const auto& [before, after, max] : target.reader.lists)
    guard["lists"].push_back({before, after});
  if (!target.reader.kept_comment.empty()) guard["comment"] = target.reader.kept_comment;
  std::string text = guard.dump(1);
  text.erase(text.rfind('\n'));  // the closing brace
  text += ",\n \"rows\": {";
  for (const Row& row : rows) {
    text += (&row == &rows.front() ? "\n  " : ",\n  ") + in_quotes(row.scope) + ": {\n";
    text += "   \"before\": " + list_text(row.before) + ",\n";
    text += "   \"after\": " + list_text(row.after) + "\n  }";
  }
  return text + "\n }\n}\n";
}

}  // namespace dlcp::fabric::tree
