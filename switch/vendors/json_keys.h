// Keys that are twice in one object of a JSON text: parsers keep the last and say nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace dlcp::fabric {

struct KeyTwice {
  std::string key;
  int line = 0;  // 1-based, of the second
};

// `parsed` is the text as it was parsed, by whose number of members the text is judged: the search
// for which key it is costs a second parse, and is seldom needed.
std::optional<KeyTwice> first_key_twice(const std::string& text, const nlohmann::json& parsed);

}  // namespace dlcp::fabric
