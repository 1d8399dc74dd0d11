#include "switch/vendors/tree/statement/pattern_index.h"

#include <algorithm>

#include "switch/vendors/text/words.h"

namespace dlcp::fabric::tree {
namespace {

constexpr std::string_view kHole;

}  // namespace

// An empty `word` stands for a hole.
std::size_t PatternIndex::next(std::size_t node, const std::string& word) {
  const auto added = nodes_.size();
  if (word == kHole) {
    if (nodes_[node].any != 0) return nodes_[node].any;
    nodes_[node].any = added;
  } else {
    for (const auto& [known, to] : nodes_[node].fixed)
      if (known == word) return to;
    nodes_[node].fixed.emplace_back(word, added);
  }
  nodes_.emplace_back();
  return added;
}

void PatternIndex::add(const Pattern& pattern, std::size_t id) {
  std::size_t node = 0;
  for (const auto& word : words_of(pattern.text())) {
    const auto open = word.find('{');
    const bool is_hole = open != std::string::npos && word.find('}', open) != std::string::npos;
    if (is_hole && word.find("*}", open) != std::string::npos) {
      nodes_[node].rests.push_back(id);
      return;
    }
    node = next(node, is_hole ? std::string(kHole) : word);
  }
  nodes_[node].ends.push_back(id);
}

void PatternIndex::walk(std::size_t node, std::string_view left, bool begins,
                        std::vector<std::size_t>& ids) const {
  const Node& here = nodes_[node];
  ids.insert(ids.end(), here.rests.begin(), here.rests.end());
  if (left.empty() || begins) ids.insert(ids.end(), here.ends.begin(), here.ends.end());
  if (left.empty()) return;
  const auto space = std::min(left.find(' '), left.size());
  const auto word = left.substr(0, space);
  const auto rest = left.substr(std::min(space + 1, left.size()));
  for (const auto& [fixed, to] : here.fixed)
    if (fixed == word) walk(to, rest, begins, ids);
  if (here.any != 0) walk(here.any, rest, begins, ids);
}

std::vector<std::size_t> PatternIndex::may_match(std::string_view statement) const {
  std::vector<std::size_t> ids;
  walk(0, statement, false, ids);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::size_t> PatternIndex::may_begin(std::string_view statement) const {
  std::vector<std::size_t> ids;
  walk(0, statement, true, ids);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace dlcp::fabric::tree
