// JSON of a switch, read without guessing: what was cut off is told from what is no JSON at all,
// and keys that are twice in one object are found (parsers keep the last and say nothing).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "switch/model/problem.h"

namespace dlcp::fabric {

struct KeyTwice {
  std::string key;
  int line = 0;  // 1-based, of the second
};

// `parsed` is the text as it was parsed, by whose number of members the text is judged: the search
// for which key it is costs a second parse, and is seldom needed.
std::optional<KeyTwice> first_key_twice(const std::string& text, const nlohmann::json& parsed);

// Errors, each with its line: text that is no JSON, or that ends before its last brace; a key
// twice.
Checked<nlohmann::json> read_json(const std::string& file, const std::string& text);

}  // namespace dlcp::fabric
