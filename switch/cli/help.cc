#include "switch/cli/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace dlcp::fabric::cli {
namespace {

constexpr std::size_t kColumn = 26;  // where explanations begin

// The text's lines, each broken at blanks and begun with `indent` of them; a word that is too long
// keeps a line of its own.
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

std::string beside(const std::string& name, const std::string& text, std::size_t width) {
  const std::string body = wrapped(text, width, kColumn);
  if (body.empty()) return name + "\n";
  if (name.size() + 2 > kColumn) return name + "\n" + body;
  return name + std::string(kColumn - name.size(), ' ') + body.substr(kColumn);
}

}  // namespace

std::size_t HelpFormatter::output_width() {
  constexpr std::size_t kNarrowest = 40, kWidest = 100, kInPipes = 80;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kInPipes;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const std::string name =
      "  " + make_option_name(option, is_positional) + make_option_opts(option);
  return beside(name, make_option_desc(option), width_);
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  return beside("  " + verb->get_name(), verb->get_description(), width_);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), width_, 0);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return wrapped(app->get_footer(), width_, 0);
}

}  // namespace dlcp::fabric::cli
