// Splits a line of a command's output or of a configuration at its white space.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace dlcp::fabric {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

}  // namespace dlcp::fabric
