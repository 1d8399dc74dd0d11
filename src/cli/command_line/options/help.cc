#include "cli/command_line/options/help.h"

#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kColumn = 26;

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const std::string name =
      "  " + make_option_name(option, is_positional) + make_option_opts(option);
  return beside(name, make_option_desc(option), kColumn, output_width());
}

// The first sentence of the verb's description.
std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  std::string text = verb->get_description();
  text = text.substr(0, text.find_first_of("\n"));
  return beside("  " + verb->get_name(), text, kColumn, output_width());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), output_width());
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return wrapped(app->get_footer(), output_width());
}

}  // namespace dlcp::cli
