// Patterns by their words, so that a statement is held against those few that it may match instead
// of against all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switch/vendors/tree/pattern.h"

namespace dlcp::fabric::tree {

// What a statement of this pattern says.
struct Meaning {
  enum class Kind { kFact, kBinding, kShared, kWord };

  Kind kind;
  const Pattern* pattern;
  const std::string* name;             // of the fact, of the kind of object, or of the word
  const std::string* value = nullptr;  // of the word
};

class PatternIndex {
 public:
  // `id`: what may_match() answers with.
  void add(const Pattern& pattern, std::size_t id);
  // Ids of all patterns that match the statement, and of some that only look so; ascending.
  std::vector<std::size_t> may_match(std::string_view statement) const;
  // The same of patterns that the statement begins with.
  std::vector<std::size_t> may_begin(std::string_view statement) const;

 private:
  struct Node {
    std::vector<std::pair<std::string, std::size_t>> fixed;  // word -> the next node
    std::size_t any = 0;                                     // where a hole leads; 0: nowhere
    std::vector<std::size_t> ends, rests;  // patterns that end here, or take all that is left
  };

  std::size_t next(std::size_t node, const std::string& word);
  void walk(std::size_t node, std::string_view left, bool begins,
            std::vector<std::size_t>& ids) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace dlcp::fabric::tree
