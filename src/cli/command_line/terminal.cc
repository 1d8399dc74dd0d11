#include "cli/command_line/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace dlcp::cli {
namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 100;
constexpr std::size_t kInPipes = 80;

// One paragraph; `out` already contains the indent of the first line.
void wrap_line(std::string& out, std::string_view line, std::size_t width, std::size_t indent) {
  std::size_t column = indent;
  const std::size_t deeper = std::min(line.find_first_not_of(' '), line.size());
  out.append(deeper, ' ');
  column += deeper;
  bool first = true;
  for (line.remove_prefix(deeper); !line.empty();) {
    // Keeps blanks within a line, because they align examples.
    const std::size_t end = std::min(line.find(' ', line.find_first_not_of(' ')), line.size());
    std::string_view piece = line.substr(0, end);
    line.remove_prefix(end);
    if (!first && column + piece.size() > width) {
      out += '\n';
      out.append(indent + deeper, ' ');
      column = indent + deeper;
      piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
    }
    out += piece;
    column += piece.size();
    first = false;
  }
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  out += '\n';
}

}  // namespace

std::size_t output_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kInPipes;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

bool can_draw(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return isatty(descriptor) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    out.append(indent, ' ');
    wrap_line(out, text.substr(0, newline), width, indent);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return out;
}

std::string beside(std::string_view name, std::string_view text, std::size_t column,
                   std::size_t width) {
  std::string out(name);
  std::string body = wrapped(text, width, column);
  if (body.empty()) return out + "\n";
  if (name.size() + 2 > column) return out + "\n" + body;
  out.append(column - name.size(), ' ');
  return out + body.substr(column);
}

}  // namespace dlcp::cli
