#include "switch/vendors/tree/change/gnmi_set.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "switch/vendors/text/words.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::ordered_json;

// A node's name, with its module if it needs one, according to RFC 7951.
std::string named(const JsonShape& shape, const std::string& names, const std::string& name) {
  const auto module = shape.modules.find(names);
  return module == shape.modules.end() ? name : module->second + ":" + name;
}

// The keys of lists, looked up once for each list.
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

// "qos queues queue q5" -> "/qos/queues/queue[name=q5]"; `names` receives the path without keys.
std::string path_of(Keys& known, const std::string& scope, std::string& names) {
  std::string path;
  const auto words = words_of(scope);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) names += ' ';
    names += words[i];
    path.append(1, '/').append(named(known.shape(), names, words[i]));
    const auto& keys = known.of(names);
    if (i + keys.size() >= words.size()) continue;
    for (const auto& key : keys)
      path.append(1, '[').append(key).append(1, '=').append(words[++i]).append(1, ']');
  }
  return path;
}

// The list names a leaf by the last names of its path, as many as are needed to identify it.
bool is_of(const std::vector<std::string>& list, const std::string& names) {
  return std::any_of(
      list.begin(), list.end(),
      [&names](const std::string& one) { return names == one || names.ends_with(" " + one); });
}

Json scalar(const JsonShape& shape, const std::string& names, const std::string& value) {
  if (is_of(shape.booleans, names)) return value == "true";
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (is_of(shape.numbers, names) && read.ec == std::errc() && read.ptr == end) return number;
  return value;
}

// Adds one statement, without its scope, to the tree below the scope.
void put(Keys& known, Json& node, const std::string& names, const std::vector<std::string>& words,
         std::size_t at) {
  if (at >= words.size()) return;
  const JsonShape& shape = known.shape();
  const auto here = with_word(names, words[at]);
  const auto name = named(shape, here, words[at]);
  const auto& keys = known.of(here);
  if (!keys.empty() && at + keys.size() < words.size()) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i)
      entry[keys[i]] = scalar(shape, with_word(here, keys[i]), words[at + 1 + i]);
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
  if (at + 1 == words.size()) {  // an empty container
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

// Rows of many ports have equal values: each distinct value is made and printed once.
class Values {
 public:
  explicit Values(Keys& known) : known_(known) {}

  // As text of the request, indented by six spaces.
  const std::string& text_of(const Row& row, const std::string& names) {
    std::string said = names;
    for (const auto& statement : row.after)
      said.append("\n").append(statement, row.scope.size());
    const auto [at, is_new] = made_.try_emplace(std::move(said));
    if (is_new) at->second = indented(value_of(row, names).dump(2));
    return at->second;
  }

 private:
  // A tree or, for a leaf, its scalar.
  Json value_of(const Row& row, const std::string& names) {
    Json value = Json::object();
    for (const auto& statement : row.after) {
      const auto words = words_of(std::string_view(statement).substr(row.scope.size()));
      if (words.size() == 1 && row.after.size() == 1)
        return scalar(known_.shape(), names, words[0]);
      put(known_, value, names, words, 0);
    }
    return value;
  }

  static std::string indented(const std::string& text) {
    std::string result;
    result.reserve(2 * text.size());
    for (const char c : text)
      c == '\n' ? result += "\n      " : result += c;
    return result;
  }

  Keys& known_;
  std::unordered_map<std::string, std::string> made_;  // by the contents of the row
};

std::string list_of(const char* name, const std::vector<std::string>& items) {
  std::string text = "  \"" + std::string(name) + "\": [\n";
  for (const auto& item : items)
    text.append("    ").append(item).append(&item == &items.back() ? "\n" : ",\n");
  return text + "  ]";
}

}  // namespace

std::string gnmi_set(const JsonShape& shape, const std::vector<Row>& rows) {
  Keys known(shape);
  Values values(known);
  std::vector<std::string> deletes, replaces;
  for (const Row& row : rows) {
    std::string names;
    std::string text = row.after.empty() ? "" : "{\n      \"path\": ";
    add_quoted(text, path_of(known, row.scope, names));
    if (row.after.empty()) {
      deletes.push_back(std::move(text));
      continue;
    }
    text += ",\n      \"encoding\": \"json_ietf\",\n      \"value\": ";
    replaces.push_back(text.append(values.text_of(row, names)).append("\n    }"));
  }
  std::string text = "{\n";
  if (!deletes.empty()) text += list_of("deletes", deletes) + (replaces.empty() ? "\n" : ",\n");
  if (!replaces.empty()) text += list_of("replaces", replaces) + "\n";
  return text + "}\n";
}

void add_quoted(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (!plain)
    out += Json(text).dump();
  else
    out.append(1, '"').append(text).append(1, '"');
}

}  // namespace dlcp::fabric::tree
