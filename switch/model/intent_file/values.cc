#include "switch/model/intent_file/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace dlcp::fabric {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// Number and unit, with or without a space between them; rounded to an integer above zero.
template <std::size_t N>
std::optional<std::uint64_t> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto at = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (at.ec != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
  std::string_view unit(at.ptr, static_cast<std::size_t>(end - at.ptr));
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (!same_word(unit, known.name)) continue;
    const double scaled = std::round(value * known.factor);
    if (scaled < 1 || scaled > 1e18) return std::nullopt;
    return static_cast<std::uint64_t>(scaled);
  }
  return std::nullopt;
}

// Parses "[1-4]" or "[0-124:4]" after the bracket; false: not such a range.
struct Range {
  std::uint64_t first, last, step;
  std::size_t width;  // digits of a number at least
};

std::optional<Range> read_range(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto colon = text.find(':', dash);
  const auto first = read_integer(text.substr(0, dash), 99999);
  const auto last =
      read_integer(text.substr(dash + 1, colon == std::string_view::npos ? std::string_view::npos
                                                                         : colon - dash - 1),
                   99999);
  const auto step = colon == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                    : read_integer(text.substr(colon + 1), 99999);
  if (!first || !last || !step || *step == 0 || *last < *first) return std::nullopt;
  // "01-12": the zeros of the first number belong to the names.
  const std::size_t width = text.front() == '0' ? dash : 1;
  if (width > 5) return std::nullopt;
  return Range{*first, *last, *step, width};
}

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '/' || c == '.' ||
         c == '_' || c == '-' || c == ':';
}

}  // namespace

std::optional<std::uint64_t> read_integer(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto at = std::from_chars(text.data(), text.data() + text.size(), value);
  if (at.ec != std::errc() || at.ptr != text.data() + text.size() || value > max)
    return std::nullopt;
  return value;
}

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto at =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (at.ec != std::errc() || at.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_rate(std::string_view text) {
  static constexpr std::array<Unit, 11> kUnits = {{{"k", 1e3},
                                                   {"M", 1e6},
                                                   {"G", 1e9},
                                                   {"T", 1e12},
                                                   {"kb/s", 1e3},
                                                   {"Mb/s", 1e6},
                                                   {"Gb/s", 1e9},
                                                   {"Tb/s", 1e12},
                                                   {"Mbit", 1e6},
                                                   {"Gbit", 1e9},
                                                   {"Gbps", 1e9}}};
  return with_unit(text, kUnits);
}

std::optional<std::uint64_t> read_bytes(std::string_view text) {
  static constexpr std::array<Unit, 8> kUnits = {{{"", 1},
                                                  {"B", 1},
                                                  {"kB", 1e3},
                                                  {"MB", 1e6},
                                                  {"GB", 1e9},
                                                  {"KiB", 1024},
                                                  {"MiB", 1048576},
                                                  {"GiB", 1073741824}}};
  return with_unit(text, kUnits);
}

std::optional<std::uint64_t> read_time_ns(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  return with_unit(text, kUnits);
}

std::optional<double> read_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  const auto value = read_number(text);
  return value && *value <= 100 ? value : std::nullopt;
}

std::optional<int> read_power_of_two(std::string_view text) {
  const bool fraction = text.starts_with("1/");
  const auto value = read_integer(fraction ? text.substr(2) : text, 1U << 16);
  if (!value || *value == 0 || (*value & (*value - 1)) != 0) return std::nullopt;
  const int exponent = static_cast<int>(std::log2(static_cast<double>(*value)));
  return fraction ? -exponent : exponent;
}

std::optional<bool> read_yes_no(std::string_view text) {
  if (same_word(text, "yes") || same_word(text, "true")) return true;
  if (same_word(text, "no") || same_word(text, "false")) return false;
  return std::nullopt;
}

std::optional<std::uint8_t> read_dscp(std::string_view text) {
  if (const auto number = read_integer(text, 63)) return static_cast<std::uint8_t>(*number);
  if (same_word(text, "EF")) return std::uint8_t{46};
  if (same_word(text, "BE")) return std::uint8_t{0};
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : -1; };
  if (text.size() == 3 && same_word(text.substr(0, 2), "CS") && digit(text[2]) >= 0 &&
      digit(text[2]) <= 7)
    return static_cast<std::uint8_t>(digit(text[2]) * 8);
  if (text.size() == 4 && same_word(text.substr(0, 2), "AF")) {
    const int af_class = digit(text[2]);
    const int precedence = digit(text[3]);
    if (af_class >= 1 && af_class <= 4 && precedence >= 1 && precedence <= 3)
      return static_cast<std::uint8_t>(af_class * 8 + precedence * 2);
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> read_dscps(std::string_view text) {
  if (const auto one = read_dscp(text)) return std::vector<std::uint8_t>{*one};
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = read_dscp(text.substr(0, dash));
  const auto last = read_dscp(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  std::vector<std::uint8_t> all;
  for (unsigned dscp = *first; dscp <= *last; ++dscp)
    all.push_back(static_cast<std::uint8_t>(dscp));
  return all;
}

std::optional<std::vector<std::string>> read_names(std::string_view text) {
  std::vector<std::string> names = {""};
  while (!text.empty()) {
    if (text.front() != '[') {
      if (!is_name_character(text.front())) return std::nullopt;
      for (std::string& name : names)
        name += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const auto range = read_range(text.substr(1, close - 1));
    if (!range) return std::nullopt;
    const std::uint64_t count = (range->last - range->first) / range->step + 1;
    if (count * names.size() > kNamesMax) return std::nullopt;
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (std::uint64_t i = range->first; i <= range->last; i += range->step)
        longer.push_back(fmt::format("{}{:0{}}", name, i, range->width));
    names = std::move(longer);
    text.remove_prefix(close + 1);
  }
  if (names.front().empty()) return std::nullopt;
  return names;
}

}  // namespace dlcp::fabric
