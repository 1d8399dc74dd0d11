#include "switch/vendors/tree/change/operation_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/change/own_objects.h"

namespace dlcp::fabric::tree {
namespace {

using Leaves = std::map<std::string, std::string>;

struct Leaf {
  std::string path;  // separated by spaces
  std::optional<std::string> before, after;
};

std::optional<std::string> value_in(const std::vector<std::string>& statements) {
  return statements.empty() ? std::nullopt : std::optional(leaf_value(statements.front()));
}

std::vector<Leaf> leaves_of(const Patch& patch) {
  std::vector<Leaf> leaves;
  for (const Row& row : patch.rows)
    leaves.push_back({row.scope, value_in(row.before), value_in(row.after)});
  return leaves;
}

bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") != std::string::npos &&
         text.find_first_of(":#{}[]'\"\n,&*!|>%@` ") == std::string::npos;
}

void append_key(std::string& out, std::size_t depth, const std::string& key) {
  out.append(4 + 2 * depth, ' ');
  out += is_plain(key) ? key : "'" + key + "'";
  out += ':';
}

std::vector<std::string> parts_of(std::string path) {
  std::replace(path.begin(), path.end(), '/', ' ');
  return words_of(path);
}

std::string set_text(const std::vector<Leaf>& patch, bool undo) {
  Leaves leaves;
  for (const Leaf& leaf : patch)
    if (const auto& to = undo ? leaf.before : leaf.after) leaves[slashed(leaf.path)] = *to;
  return leaves.empty() ? std::string() : yaml_of(leaves);
}

// Paths to unset: a whole object of DLCP if nothing of it remains, else single leaves.
class UnsetPaths {
 public:
  UnsetPaths(const Target& target, const std::vector<Leaf>& patch, bool undo, bool whole)
      : target_(target), patch_(patch), undo_(undo), whole_(whole) {}

  std::string text() {
    std::set<std::string> lines;
    for (const Leaf& leaf : patch_) {
      const auto& from = undo_ ? leaf.after : leaf.before;
      const auto& to = undo_ ? leaf.before : leaf.after;
      if (!from || to) continue;
      std::string path = leaf.path;
      if (const auto root = root_of(path); whole_ && !root.empty() && is_removed(root)) path = root;
      if (path.ends_with(" inbound"))
        path.erase(path.rfind(' '));  // the binding, without its direction
      lines.insert(path);
    }
    std::string text;
    for (const auto& line : lines)
      text += line + "\n";
    return text;
  }

 private:
  std::string root_of(const std::string& path) const {
    for (const ObjectKind& kind : target_.objects) {
      std::size_t taken = 0;
      const auto object = kind.root.begins(path, taken);
      if (object && is_own(object->at("name"))) return path.substr(0, taken);
    }
    return "";
  }

  bool is_removed(const std::string& root) {
    const auto [at, is_new] = known_.try_emplace(root, true);
    if (!is_new) return at->second;
    at->second = std::all_of(patch_.begin(), patch_.end(), [&](const Leaf& other) {
      return !is_under(other.path, root) || !(undo_ ? other.before : other.after);
    });
    return at->second;
  }

  const Target& target_;
  const std::vector<Leaf>& patch_;
  const bool undo_, whole_;
  std::map<std::string, bool> known_;
};

std::string guard_of(const std::vector<Leaf>& patch) {
  const auto quoted = [](const std::optional<std::string>& value) {
    return value ? "\"" + *value + "\"" : "null";
  };
  std::string text = "{\n";
  for (const Leaf& leaf : patch)
    text += fmt::format("  \"{}\": [{}, {}]{}\n", slashed(leaf.path), quoted(leaf.before),
                        quoted(leaf.after), &leaf == &patch.back() ? "" : ",");
  return text + "}\n";
}

}  // namespace

std::string slashed(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '/');
  return path;
}

std::string yaml_of(const Leaves& leaves) {
  std::string out = "- set:\n";
  std::vector<std::string> open;
  for (const auto& [path, value] : leaves) {
    auto parts = parts_of(path);
    std::size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same])
      ++same;
    for (std::size_t depth = same; depth < parts.size(); ++depth) {
      append_key(out, depth, parts[depth]);
      const bool word = value == "on" || value == "off";  // booleans in YAML 1.1
      if (depth + 1 == parts.size()) out += word ? " '" + value + "'" : " " + value;
      out += '\n';
    }
    open = std::move(parts);
  }
  return out;
}

void write_operations(const Target& target, const Patch& patch, Rendering& out) {
  const auto leaves = leaves_of(patch);
  const auto add = [&](const std::string& path, std::string text, FileKind kind) {
    if (!text.empty()) out.files.push_back({path, std::move(text), kind, true});
  };
  const bool cleanup = patch.name == "90-cleanup";
  add(patch.name + ".yaml", set_text(leaves, false), FileKind::kConfig);
  add(patch.name + ".unset", UnsetPaths(target, leaves, false, cleanup).text(), FileKind::kConfig);
  add("rollback/" + patch.name + ".yaml", set_text(leaves, true), FileKind::kRollback);
  add("rollback/" + patch.name + ".unset", UnsetPaths(target, leaves, true, true).text(),
      FileKind::kRollback);
  add("guard/" + patch.name + ".json", guard_of(leaves), FileKind::kConfig);
}

void write_by_hand(const ByHand& by_hand, const Statements& wanted,
                   const std::map<std::string, std::string>& running, Rendering& out) {
  std::set<std::string> lines, undo;
  for (const Statement& one : wanted) {
    const auto path = leaf_path(one.text);
    const auto now = running.find(path);
    if (now != running.end() && now->second == one.text) continue;
    lines.insert(by_hand.set + one.text);
    undo.insert(now == running.end() ? by_hand.unset + path : by_hand.set + now->second);
  }
  if (lines.empty()) return;
  std::string text = by_hand.head, back = by_hand.head;
  for (const auto& line : lines)
    text += line + "\n";
  for (const auto& line : undo)
    back += line + "\n";
  out.files.push_back({by_hand.file, text, FileKind::kConfig, false});
  out.files.push_back({"rollback/" + by_hand.file, back, FileKind::kRollback, false});
}

}  // namespace dlcp::fabric::tree
