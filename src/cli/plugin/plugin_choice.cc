#include "cli/plugin/plugin_choice.h"

#include <algorithm>
#include <cstdlib>

namespace dlcp::cli {
namespace {

bool is_capital(char c) {
  return (c >= 'A' && c <= 'Z') || c == '_';
}

// The length of "NAME=" at the beginning of the text from `at` on; 0 if there is none.
std::size_t length_of_name(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() &&
         (is_capital(text[end]) || (end > at && text[end] >= '0' && text[end] <= '9')))
    end++;
  return end > at && end < text.size() && text[end] == '=' ? end + 1 - at : 0;
}

// The first comma from `at` on that a setting follows, or the end of the text.
std::size_t end_of_part(const std::string& text, std::size_t at) {
  std::size_t comma = text.find(',', at);
  while (comma != std::string::npos && length_of_name(text, comma + 1) == 0)
    comma = text.find(',', comma + 1);
  return std::min(comma, text.size());
}

}  // namespace

PluginChoice parse_plugin_choice(const std::string& text) {
  PluginChoice choice;
  std::size_t at = end_of_part(text, 0);
  choice.name = text.substr(0, at);
  while (at < text.size()) {
    const std::size_t name = length_of_name(text, at + 1);
    const std::size_t value = at + 1 + name;
    const std::size_t end = end_of_part(text, value);
    choice.environment.emplace_back(text.substr(at + 1, name - 1), text.substr(value, end - value));
    at = end;
  }
  return choice;
}

std::string settings_text(const PluginChoice& choice) {
  std::string text;
  for (const auto& [name, value] : choice.environment)
    text += (text.empty() ? "" : ",") + name + "=" + value;
  return text;
}

ScopedEnvironment::ScopedEnvironment(const EnvironmentVariables& variables) {
  for (const auto& [name, value] : variables) {
    const char* const before = std::getenv(name.c_str());
    before_.emplace_back(name,
                         before != nullptr ? std::optional<std::string>(before) : std::nullopt);
    setenv(name.c_str(), value.c_str(), 1);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  for (auto it = before_.rbegin(); it != before_.rend(); ++it)
    if (it->second)
      setenv(it->first.c_str(), it->second->c_str(), 1);
    else
      unsetenv(it->first.c_str());
}

}  // namespace dlcp::cli
