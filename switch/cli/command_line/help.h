// Layout of --help: names and their descriptions in columns no wider than the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dlcp::fabric::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::size_t width_;
};

}  // namespace dlcp::fabric::cli
