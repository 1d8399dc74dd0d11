// --help, wrapped at the terminal's width: the CLI11 of Debian 12 does not wrap lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dlcp::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
};

}  // namespace dlcp::cli
