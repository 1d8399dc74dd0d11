// Splits a line of a command's output or of a configuration at its white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric {

inline std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  constexpr std::size_t kUsually = 8;
  std::vector<std::string> words;
  words.reserve(kUsually);
  for (auto at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const auto end = line.find_first_of(kSpace, at);
    words.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

// "a", "b" -> "a b"; "", "b" -> "b". Made once, in the room that it takes.
inline std::string with_word(std::string_view line, std::string_view word) {
  std::string text;
  text.reserve(line.size() + 1 + word.size());
  text.append(line);
  if (!line.empty()) text += ' ';
  return text.append(word);
}

}  // namespace dlcp::fabric
