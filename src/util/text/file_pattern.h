// Names of files that several processes write: in a setting, '%' and a letter stand for a value
// that differs between the processes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace dlcp {

struct FilePlaceholder {
  char letter = '\0';
  std::string value;
};

// `pattern` with the values of the placeholders; all other text stays as it is.
inline std::string file_name_of(std::string_view pattern,
                                std::initializer_list<FilePlaceholder> placeholders) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const FilePlaceholder* found = nullptr;
    for (const FilePlaceholder& each : placeholders)
      if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == each.letter)
        found = &each;
    if (found == nullptr) {
      name += pattern[i];
    } else {
      name += found->value;
      ++i;
    }
  }
  return name;
}

}  // namespace dlcp
