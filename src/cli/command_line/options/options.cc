#include "cli/command_line/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "util/text/quantity.h"
#include "util/text/similar.h"

namespace dlcp::cli {
namespace {

std::string complaint(const std::string& text, const std::string& what_to_give) {
  return fmt::format("'{}' is not valid; give {}", text.substr(0, 80), what_to_give);
}

[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& what_to_give) {
  throw CLI::ValidationError(name, complaint(text, what_to_give));
}

std::optional<std::int64_t> parse_signed(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

}  // namespace

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& description) {
  return *app.add_subcommand(name, description);
}

void complete(CLI::App& verb, const std::string& footer, std::function<void()> run) {
  verb.footer(footer);
  verb.callback(std::move(run));
}

CLI::Option* add_flag(CLI::App& verb, const std::string& name, bool& value,
                      const std::string& help) {
  return verb.add_flag(name, value, help);
}

CLI::Option* add_text(CLI::App& verb, const std::string& name, std::string& value,
                      const std::string& help) {
  return verb.add_option(name, value, help);
}

CLI::Option* add_texts(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                       const std::string& help) {
  return verb.add_option(name, values, help);
}

CLI::Option* add_repeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                          const std::string& help) {
  return verb.add_option(name, values, help)->allow_extra_args(false);
}

CLI::Option* add_numbers(CLI::App& verb, const std::string& name, std::vector<int>& values,
                         Range<int> range, const std::string& help) {
  const auto check = [range](const std::string& text) {
    const auto value = parse_signed(text);
    return value && *value >= range.least && *value <= range.most
               ? ""
               : complaint(text, fmt::format("{}..{}", range.least, range.most));
  };
  return verb.add_option(name, values, help)->delimiter(',')->check(check);
}

bool given(const CLI::Option* option) {
  return option->count() > 0;
}

void exclude_each_other(CLI::Option* one, CLI::Option* other) {
  one->excludes(other);
}

void need(CLI::Option* option, CLI::Option* other) {
  option->needs(other);
}

void miss(const std::string& options) {
  throw CLI::RequiredError(options);
}

CLI::Option* add_count(CLI::App& verb, const std::string& name, Range<std::int64_t> range,
                       std::function<void(std::int64_t)> store, const std::string& help) {
  const auto take = [=](const std::string& text) {
    const auto value = parse_signed(text);
    if (!value || *value < range.least || *value > range.most)
      refuse(name, text, fmt::format("{}..{}", range.least, range.most));
    store(*value);
  };
  return verb.add_option_function<std::string>(name, take, help)->type_name("N");
}

CLI::Option* add_time(CLI::App& verb, const std::string& name, double& seconds, Range<double> range,
                      const std::string& help) {
  const auto take = [=, &seconds](const std::string& text) {
    const auto parsed = parse_duration(text, std::chrono::seconds(1));
    const double value = parsed ? static_cast<double>(parsed->count()) * 1e-9 : -1;
    if (!parsed || value < range.least || value > range.most)
      refuse(name, text,
             fmt::format("{:g}..{:g} seconds, or {}", range.least, range.most, kDurationExample));
    seconds = value;
  };
  return verb.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

CLI::Option* add_share(CLI::App& verb, const std::string& name, double& share, Range<double> range,
                       const std::string& help) {
  const auto take = [=, &share](const std::string& text) {
    const auto value = parse_share(text);
    if (!value || (*value != 0 && *value < range.least) || *value > range.most)
      refuse(name, text,
             fmt::format("0 or {:g}..{:g}, as {}", range.least, range.most, kShareExample));
    share = *value;
  };
  return verb.add_option_function<std::string>(name, take, help)->type_name("SHARE");
}

CLI::Option* add_choice(CLI::App& verb, const std::string& name,
                        const std::vector<std::string>& choices,
                        std::function<void(const std::string&)> store, const std::string& help) {
  const auto take = [=](const std::string& text) {
    if (std::ranges::find(choices, text) == choices.end()) {
      const std::vector<std::string_view> views(choices.begin(), choices.end());
      const std::string_view similar = most_similar(text, views);
      refuse(name, text,
             fmt::format("{}{}", fmt::join(choices, ", "),
                         similar.empty() ? "" : fmt::format("; did you mean {}?", similar)));
    }
    store(text);
  };
  return verb.add_option_function<std::string>(name, take, help)->type_name("WORD");
}

void group_rest(CLI::App& verb, const std::string& heading) {
  for (CLI::Option* option : verb.get_options())
    if (option->get_group() == "Options" && option != verb.get_help_ptr()) option->group(heading);
}

}  // namespace dlcp::cli
