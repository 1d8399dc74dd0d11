#include "switch/model/intent_file/section.h"

#include <fmt/core.h>

#include <algorithm>

#include "switch/model/intent_file/intent_keys.h"

namespace dlcp::fabric {

void Reading::fail(int line, std::string what, std::string seen, std::string expected,
                   std::string hint) {
  problems.push_back({Severity::kError, file, line, std::move(what), std::move(seen),
                      std::move(expected), std::move(hint)});
}

Section::Section(Reading& reading, const YamlNode& node, std::string_view section,
                 std::string where)
    : reading_(reading), node_(node), where_(std::move(where)) {
  if (node.kind == YamlNode::Kind::kMap) {
    check_keys(section);
    return;
  }
  usable_ = false;
  reading_.fail(node.line, where_ + " is not a section of keys", kind_of(node),
                "`key: value` lines with equal indentation");
}

void Section::check_keys(std::string_view section) {
  std::vector<std::string_view> known;
  for (const KeyRow& row : intent_keys()) {
    if (row.section != section) continue;
    known.push_back(row.key);
    if (!row.required || node_.find(row.key) != nullptr) continue;
    usable_ = false;
    reading_.fail(node_.line, fmt::format("{} lacks the key '{}'", where_, row.key), "", "",
                  row.meaning.empty() ? "" : fmt::format("{}: {}", row.key, row.meaning));
  }
  for (const YamlEntry& entry : node_.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string like = nearest(entry.key, known);
    std::string all;
    for (const std::string_view key : known)
      all += (all.empty() ? "" : ", ") + std::string(key);
    reading_.fail(entry.line, fmt::format("unknown key in {}", where_), entry.key,
                  like.empty() ? "one of " + all : "",
                  like.empty() ? "" : fmt::format("did you mean '{}'?", like));
  }
}

std::optional<std::string> Section::text(std::string_view key) {
  const YamlNode* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != YamlNode::Kind::kScalar) {
    report_wrong_value(key, kind_of(*node), "one value", node->line);
    return std::nullopt;
  }
  // Scripts contain names as comments, which a line break would end.
  const auto is_control = [](unsigned char byte) { return byte < ' ' || byte == 0x7f; };
  if (std::none_of(node->text.begin(), node->text.end(), is_control)) return node->text;
  report_wrong_value(key, "a line break or another control character", "one line of text",
                     node->line);
  return std::nullopt;
}

std::vector<const YamlNode*> Section::list(std::string_view key) {
  const YamlNode* const node = find(key);
  if (node == nullptr) return {};
  if (node->kind != YamlNode::Kind::kList) return {node};
  std::vector<const YamlNode*> items;
  for (const YamlNode& item : node->items)
    items.push_back(&item);
  return items;
}

void Section::report_wrong_value(std::string_view key, const std::string& seen,
                                 std::string_view expected, int line) {
  const YamlNode* const node = find(key);
  if (line == 0) line = node == nullptr ? node_.line : node->line;
  reading_.fail(line, fmt::format("wrong value of {} in {}", key, where_), seen,
                std::string(expected));
}

const char* Section::kind_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a single value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      break;
  }
  return "a section";
}

}  // namespace dlcp::fabric
