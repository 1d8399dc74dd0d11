// An index of patterns by their words, so that a statement is compared with the few patterns that
// it may match instead of all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switch/vendors/tree/statement/pattern.h"

namespace dlcp::fabric::tree {

// The meaning of statements that match this pattern.
struct Meaning {
  enum class Kind { kFact, kBinding, kShared, kWord };

  Kind kind;
  const Pattern* pattern;
  const std::string* name;             // of the fact, the kind of object, or the word
  const std::string* value = nullptr;  // of the word
};

class PatternIndex {
 public:
  // `id`: the value that may_match() returns.
  void add(const Pattern& pattern, std::size_t id);
  // Ids of all patterns that match the statement, possibly with some that do not; ascending.
  std::vector<std::size_t> may_match(std::string_view statement) const;
  // The same for patterns that match the beginning of the statement.
  std::vector<std::size_t> may_begin(std::string_view statement) const;

 private:
  struct Node {
    std::vector<std::pair<std::string, std::size_t>> fixed;  // word -> the next node
    std::size_t any = 0;                                     // next node for a hole; 0: none
    std::vector<std::size_t> ends, rests;  // patterns that end here, or match all remaining words
  };

  std::size_t next(std::size_t node, const std::string& word);
  void walk(std::size_t node, std::string_view left, bool begins,
            std::vector<std::size_t>& ids) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace dlcp::fabric::tree
