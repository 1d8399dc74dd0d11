// Reads the limits and refusals of a target's file, and checks statements against the limits:
// numbers in their ranges, words of a list.
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
// Adds the rows of list `key`: [pattern, why, hint], and a pattern of accepted statements; or an
// object, if another statement must be present or names must differ.
void add_refusals(std::vector<Refusal>& list, const nlohmann::json& data, const char* key,
                  bool warns = false);

struct RangeFault {
  std::string seen, expected;
};
struct Judged {
  bool described = false;  // some range matches this statement
  std::vector<RangeFault> faults;
};
Judged judge_limits(const std::vector<Range>& ranges, const std::string& statement);

}  // namespace dlcp::fabric::tree
