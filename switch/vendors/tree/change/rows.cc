#include "switch/vendors/tree/change/rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/vendors/tree/change/gnmi_set.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Prints statements as nested blocks, and opens the contexts that a line needs.
class Blocks {
 public:
  Blocks(const Target& target, std::string& out) : target_(target), out_(out) {}

  void remove(const std::string& statement) { line(statement, true, false); }
  // `opens`: statements inside this one follow.
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

void remove(const Row& row, Blocks& blocks) {
  const bool whole = row.after.empty() || row.change == Change::kReplace;
  if (row.before.empty() || (overwrites(row) && !row.after.empty())) return;
  if (row.change == Change::kOverwrite || (whole && contains(row.before, row.scope)))
    return blocks.remove(row.scope);
  for (auto at = row.before.rbegin(); at != row.before.rend(); ++at)
    if (!contains(row.after, *at)) blocks.remove(*at);
}

void print_blocks(const Target& target, const Row& row, std::string& out) {
  Blocks blocks(target, out);
  remove(row, blocks);
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

// Appends a JSON list of the statements without their scope.
void add_list(std::string& text, const std::vector<std::string>& list, std::size_t scope_size) {
  text += '[';
  for (const auto& one : list) {
    if (&one != &list.front()) text += ", ";
    add_quoted(text, std::string_view(one).substr(scope_size));
  }
  text += ']';
}

}  // namespace

std::string change_text(const Target& target, const std::vector<Row>& rows) {
  if (target.reader.syntax == Syntax::kJson) return gnmi_set(target.reader.json, rows);
  std::string out;
  for (const Row& row : rows)
    if (target.reader.syntax == Syntax::kBlocks)
      print_blocks(target, row, out);
    else
      print_flat(target, row, out);
  return out;
}

std::vector<Row> reversed(std::vector<Row> rows) {
  std::reverse(rows.begin(), rows.end());
  for (Row& row : rows)
    std::swap(row.before, row.after);
  return rows;
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
    text += &row == &rows.front() ? "\n  " : ",\n  ";
    add_quoted(text, row.scope);
    text += ": [";
    add_list(text, row.before, row.scope.size());
    text += ", ";
    add_list(text, row.after, row.scope.size());
    text += ']';
  }
  return text + "\n }\n}\n";
}

}  // namespace dlcp::fabric::tree
