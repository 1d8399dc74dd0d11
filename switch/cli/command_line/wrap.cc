#include "switch/cli/command_line/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace dlcp::fabric::cli {
namespace {

// "| a | b |" -> "a", "b", without Markdown's marks for code and bold text.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t from = line.find("| "); from != std::string::npos;) {
    const auto to = line.find(" |", from + 1);
    if (to == std::string::npos) break;
    std::string cell = to > from + 2 ? line.substr(from + 2, to - from - 2) : "";
    std::erase_if(cell, [](char c) { return c == '`' || c == '*'; });
    cells.push_back(std::move(cell));
    from = to + 1;
  }
  return cells;
}

}  // namespace

std::size_t output_width() {
  constexpr std::size_t kNarrowest = 40, kWidest = 100, kInPipes = 80;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kInPipes;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string wrapping;
    for (std::string word; words >> word;) {
      if (!wrapping.empty() && indent + wrapping.size() + 1 + word.size() > width) {
        out += std::string(indent, ' ') + wrapping + "\n";
        wrapping.clear();
      }
      wrapping += (wrapping.empty() ? "" : " ") + word;
    }
    out += wrapping.empty() ? "\n" : std::string(indent, ' ') + wrapping + "\n";
  }
  return out;
}

std::string as_list(const std::string& table, std::size_t width) {
  constexpr std::size_t kIndent = 4, kInTitle = 2;
  std::istringstream lines(table);
  std::string line, text;
  std::getline(lines, line);
  const auto heads = cells_of(line);
  std::getline(lines, line);  // the line below the headings
  while (std::getline(lines, line)) {
    const auto cells = cells_of(line);
    std::string title, rest;
    for (std::size_t i = 0; i < std::min(cells.size(), heads.size()); ++i) {
      if (cells[i].empty()) continue;
      if (i < kInTitle)
        title += (title.empty() ? "" : " ") + cells[i];
      else
        rest += (rest.empty() ? "" : "; ") + heads[i] + ": " + cells[i];
    }
    text += title + "\n" + wrapped(rest, width, kIndent);
  }
  return text;
}

}  // namespace dlcp::fabric::cli
