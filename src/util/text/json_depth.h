// Limits how deeply values of a JSON file may contain each other: nlohmann::ordered_json copies
// values while it parses, and dump() prints them, by functions that call themselves for each level.
// A damaged file could otherwise overflow the stack of the process that reads it.
//
//   Json::parse(text, limited_depth)
#pragma once

#include <stdexcept>

namespace dlcp {

// Throws std::invalid_argument for a value at a deeper level.
inline constexpr auto limited_depth = [](int depth, auto, const auto&) {
  constexpr int kLevelsMax = 64;
  if (depth > kLevelsMax)
    throw std::invalid_argument("more than 64 lists or objects in each other");
  return true;
};

}  // namespace dlcp
