// Strict reading of a switch's JSON: distinguishes truncated text from text that is not JSON, and
// finds keys that occur twice in one object (parsers silently keep the last one).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "switch/model/problem.h"

namespace dlcp::fabric {

struct KeyTwice {
  std::string key;
  int line = 0;  // 1-based, of the second occurrence
};

// `parsed` is the parsed text. Its number of members shows whether a key occurs twice; only then is
// the text parsed again to find the key.
std::optional<KeyTwice> first_key_twice(const std::string& text, const nlohmann::json& parsed);

// Errors, each with its line: text that is not JSON, or that ends before its last brace; a key that
// occurs twice.
Checked<nlohmann::json> read_json(const std::string& file, const std::string& text);

}  // namespace dlcp::fabric
