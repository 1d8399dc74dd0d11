// Splits a line of a command's output or of a configuration at its white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric {

inline std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (auto at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const auto end = line.find_first_of(kSpace, at);
    words.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

}  // namespace dlcp::fabric
