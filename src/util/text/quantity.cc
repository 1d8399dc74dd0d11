#include "util/text/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace dlcp {
namespace {

struct Unit {
  std::string_view name;
  Duration duration;
};
constexpr std::array<Unit, 6> kUnits = {{{"ns", 1ns},
                                         {"us", 1us},
                                         {"ms", 1ms},
                                         {"s", std::chrono::seconds(1)},
                                         {"min", std::chrono::minutes(1)},
                                         {"h", std::chrono::hours(1)}}};
constexpr double kLongestNs = 30.0 * 365 * 24 * 3600 * 1e9;

// Returns the number at the beginning of `text` and removes it from `text`.
template <class T>
std::optional<T> leading_number(std::string_view& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "" 1, "k" and "KiB" 1024, "KB" 1000, and so on; 0 for an invalid suffix.
std::uint64_t byte_factor(std::string_view suffix) {
  if (suffix.empty()) return 1;
  constexpr std::string_view kPrefixes = "kmgtKMGT";
  const std::size_t prefix = kPrefixes.find(suffix.front());
  const std::string_view rest = suffix.substr(1);
  if (prefix == std::string_view::npos || (!rest.empty() && rest != "iB" && rest != "B")) return 0;
  std::uint64_t factor = 1;
  for (std::size_t power = 0; power <= prefix % 4; ++power)
    factor *= rest == "B" ? 1000 : 1024;
  return factor;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto value = leading_number<std::uint64_t>(text);
  return text.empty() ? value : std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  const auto value = leading_number<double>(text);
  return value && text.empty() && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto value = leading_number<std::uint64_t>(text);
  const std::uint64_t factor = byte_factor(text);
  if (!value || factor == 0 || *value > UINT64_MAX / factor) return std::nullopt;
  return *value * factor;
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  text.remove_suffix(percent ? 1 : 0);
  const auto value = parse_number(text);
  if (!value || std::signbit(*value)) return std::nullopt;
  return percent ? *value / 100 : *value;
}

std::optional<Duration> parse_duration(std::string_view text, Duration unit) {
  const auto value = leading_number<double>(text);
  for (const Unit& known : kUnits) {
    if (text == known.name) {
      unit = known.duration;
      text = {};
    }
  }
  if (!value || !text.empty() || std::signbit(*value)) return std::nullopt;
  const double ns = *value * static_cast<double>(unit.count());
  if (!(ns <= kLongestNs)) return std::nullopt;
  return Duration(std::llround(ns));
}

}  // namespace dlcp
