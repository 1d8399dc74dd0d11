// Checks statements against the target's limits: numbers in their ranges, words of a list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/tree/target/rules.h"

namespace dlcp::fabric::tree {

// From "ranges" in a target's file: [pattern, min, max] or [pattern, "|word|word|"].
std::vector<Range> ranges_of(const nlohmann::json& data);
// From "refers": a statement, and another one that it requires.
std::vector<std::pair<Pattern, Pattern>> references_of(const nlohmann::json& data);

struct RangeFault {
  std::string seen, expected;
};
struct Judged {
  bool described = false;  // some range matches this statement
  std::vector<RangeFault> faults;
};
Judged judge_limits(const std::vector<Range>& ranges, const std::string& statement);

}  // namespace dlcp::fabric::tree
