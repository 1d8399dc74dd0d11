// Parses the lines in one pass; values are used literally, without quotes or escapes.
#include "engine/settings/config_file.h"

#include <fmt/format.h>

namespace dlcp::engine {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
                              std::string_view::npos;
}

}  // namespace

Result<std::vector<Assignment>> parse_config(std::string_view text, std::string_view file) {
  std::vector<Assignment> assignments;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    std::string origin = fmt::format("{}:{}", file, line_number);
    const std::size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("{}: cannot read '{}'", origin, line.substr(0, 80)),
                   "write NAME = value, or a comment that begins with #"};
    }
    assignments.push_back(
        {std::string(name), std::string(trimmed(line.substr(equals + 1))), std::move(origin)});
  }
  return assignments;
}

}  // namespace dlcp::engine
