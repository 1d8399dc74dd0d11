// Splits a line of a command's output or of a configuration at its white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric {

// A space, or one of \t\n\v\f\r.
constexpr bool is_white(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

inline std::vector<std::string> words_of(std::string_view line) {
  constexpr std::size_t kUsually = 8;
  std::vector<std::string> words;
  words.reserve(kUsually);
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = at;
    while (at < line.size() && !is_white(line[at]))
      ++at;
    if (at > begin) words.emplace_back(line.substr(begin, at - begin));
    while (at < line.size() && is_white(line[at]))
      ++at;
  }
  return words;
}

// "a", "b" -> "a b"; "", "b" -> "b". Allocates once.
inline std::string with_word(std::string_view line, std::string_view word) {
  std::string text;
  text.reserve(line.size() + 1 + word.size());
  text.append(line);
  if (!line.empty()) text += ' ';
  return text.append(word);
}

}  // namespace dlcp::fabric
