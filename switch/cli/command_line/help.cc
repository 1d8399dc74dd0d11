#include "switch/cli/command_line/help.h"

#include "switch/cli/command_line/wrap.h"

namespace dlcp::fabric::cli {
namespace {

constexpr std::size_t kColumn = 26;  // where descriptions begin

std::string beside(const std::string& name, const std::string& text, std::size_t width) {
  const std::string body = wrapped(text, width, kColumn);
  if (body.empty()) return name + "\n";
  if (name.size() + 2 > kColumn) return name + "\n" + body;
  return name + std::string(kColumn - name.size(), ' ') + body.substr(kColumn);
}

}  // namespace

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
