// Reads YAML as NVUE prints it: a list of operations on one tree, of which `set` is the
// configuration. Keys that name several ports or numbers ("swp1-4,swp6") are expanded, so that a
// statement is one value of one port: "interface swp1 qos mapping profile P".
#include <fmt/format.h>

#include <charconv>

#include "switch/model/text/yaml_tree.h"
#include "switch/vendors/text/truncated.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/statement/statement.h"

namespace dlcp::fabric::tree {
namespace {

constexpr std::size_t kNamesMax = 4096;  // that one key may cover
constexpr std::string_view kNothing = "{}";

// "swp1-3" -> its names; other text is returned unchanged.
void expand_part(std::string_view part, std::vector<std::string>& names) {
  const auto dash = part.rfind('-');
  std::string_view stem, last;
  int from = 0, to = -1;
  if (dash != std::string_view::npos && dash > 0) {
    const auto digits = part.substr(0, dash).find_last_not_of("0123456789");
    const auto begin = digits == std::string_view::npos ? 0 : digits + 1;
    stem = part.substr(0, begin);
    const auto first = part.substr(begin, dash - begin);
    last = part.substr(dash + 1);
    const bool whole = !first.empty() && first.size() < 6 && !last.empty() && last.size() < 6 &&
                       last.find_first_not_of("0123456789") == std::string_view::npos;
    if (whole) {
      std::from_chars(first.data(), first.data() + first.size(), from);
      std::from_chars(last.data(), last.data() + last.size(), to);
    }
  }
  if (to < from) names.emplace_back(part);
  for (int i = from; i <= to && names.size() < kNamesMax; ++i)
    names.push_back(fmt::format("{}{}", stem, i));
}

// "swp1-3,swp5" -> swp1 swp2 swp3 swp5; "0-2,7" -> 0 1 2 7; other text is returned unchanged.
std::vector<std::string> expanded(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty() && names.size() < kNamesMax) {
    const auto comma = text.find(',');
    expand_part(text.substr(0, comma), names);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return names;
}

class Flattener {
 public:
  explicit Flattener(const Reader& reader) : reader_(reader) {
    for (const auto& root : reader.roots)
      roots_.push_back(words_of(root));
  }

  void add(const std::string& parent, const YamlNode& node) {
    if (overflows()) return;
    if (node.kind == YamlNode::Kind::kMap && !node.entries.empty()) {
      const bool ranged = contains(reader_.ranged, parent);
      for (const auto& entry : node.entries)
        for (const auto& key : ranged ? expanded(entry.key) : std::vector{entry.key}) {
          path_.push_back(key);
          if (is_wanted()) add(entry.key, entry.value);
          path_.pop_back();
        }
      return;
    }
    if (path_.empty()) return;
    std::string text;
    for (const auto& word : path_)
      text += word + " ";
    text += node.kind == YamlNode::Kind::kScalar ? node.text : std::string(kNothing);
    if (words_of(text).size() == path_.size() + 1)  // DLCP has no names of several words
      statements_.push_back({std::move(text), node.line, false});
  }
  bool overflows() const { return statements_.size() > kStatementsMax; }
  Statements take() { return std::move(statements_); }

 private:
  static bool contains(const std::vector<std::string>& list, const std::string& one) {
    for (const auto& item : list)
      if (item == one) return true;
    return false;
  }

  // The path leads to one of the roots, or is below it.
  bool is_wanted() const {
    for (const auto& root : roots_) {
      std::size_t same = 0;
      while (same < root.size() && same < path_.size() &&
             (root[same] == path_[same] || root[same].starts_with("{")))
        ++same;
      if (same == root.size() || same == path_.size()) return true;
    }
    return false;
  }

  const Reader& reader_;
  std::vector<std::vector<std::string>> roots_;
  std::vector<std::string> path_;
  Statements statements_;
};

// The path of the last item in the text.
std::vector<std::string> last_path(const YamlNode& set) {
  std::vector<std::string> path;
  for (const YamlNode* node = &set; node->kind == YamlNode::Kind::kMap && !node->entries.empty();
       node = &node->entries.back().value)
    path.push_back(node->entries.back().key);
  return path;
}

}  // namespace

Checked<Statements> read_operations(const Reader& reader, const std::string& file,
                                    const std::string& text) {
  auto tree = parse_yaml(file, text);
  Checked<Statements> result;
  result.problems = std::move(tree.problems);
  if (!tree.value) return result;
  Flattener flattener(reader);
  const auto refuse = [&](int line, std::string what) {
    result.problems.push_back({Severity::kError,
                               file,
                               line,
                               std::move(what),
                               {},
                               "a list of operations, as `nv config show` prints it",
                               ""});
    return result;
  };
  if (tree.value->kind != YamlNode::Kind::kList)
    return refuse(tree.value->line, "the file is not a list of NVUE operations");
  bool any = false, headed = false;
  std::vector<std::string> last;
  for (const auto& operation : tree.value->items) {
    const YamlNode* set = operation.find("set");
    if (set == nullptr) {
      const bool is_header = operation.find("header") != nullptr;
      if (is_header && headed) return refuse(operation.line, "a second configuration begins here");
      headed = headed || is_header;
      if (is_header) continue;
      return refuse(operation.line, "an operation is neither header nor set");
    }
    any = true;
    last = last_path(*set);
    flattener.add("", *set);
  }
  if (!any) return refuse(tree.value->line, "there is no set operation");
  if (flattener.overflows()) return refuse(0, "the configuration is too large");
  const char end = text[text.find_last_not_of(" \t\r\n")];
  if (end == ':') return refuse(0, "the file is truncated: its last key has no value");
  const bool closed = end == ']' || end == '}';  // YAML in JSON's syntax, or an empty tree
  if (auto problem = truncated_last_line(file, text); problem && !closed)
    result.problems.push_back(std::move(*problem));
  else if (end != ']' && last < words_of(reader.ends_with))
    result.problems.push_back(
        {Severity::kWarning, file, 0,
         fmt::format("the file ends before `{}`: the configuration may be truncated",
                     reader.ends_with),
         fmt::format("{}", fmt::join(last, " ")), "keys in the order in which NVUE prints them",
         ""});
  result.value = flattener.take();
  return result;
}

}  // namespace dlcp::fabric::tree
