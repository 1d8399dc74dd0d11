// Holds a statement against what its target's data says it takes: numbers in their ranges, words of
// a list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/tree/rules.h"

namespace dlcp::fabric::tree {

// Of "ranges" in a target's file: [pattern, min, max] or [pattern, "|word|word|"].
std::vector<Range> ranges_of(const nlohmann::json& data);
// Of "refers": a statement, and what has to be there then.
std::vector<std::pair<Pattern, Pattern>> references_of(const nlohmann::json& data);

struct Excess {
  std::string seen, expected;
};
struct Judged {
  bool described = false;  // some range is about this statement
  std::vector<Excess> faults;
};
Judged judge_limits(const std::vector<Range>& ranges, const std::string& statement);

}  // namespace dlcp::fabric::tree
