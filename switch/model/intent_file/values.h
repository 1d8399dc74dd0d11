// Parses single values of an intent file: rates, sizes, times, shares, DSCPs, ranges of names. Pure
// functions; nullopt: the text is not such a value, and expected_of describes a correct one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric {

std::optional<std::uint64_t> read_integer(std::string_view text, std::uint64_t max);
std::optional<double> read_number(std::string_view text);          // >= 0, finite
std::optional<std::uint64_t> read_rate(std::string_view text);     // bits per second: 400G, 25Gb/s
std::optional<std::uint64_t> read_bytes(std::string_view text);    // 4200, 20.6MB, 16MiB
std::optional<std::uint64_t> read_time_ns(std::string_view text);  // 12us, 0.5ms
std::optional<double> read_percent(std::string_view text);         // 20% -> 20
std::optional<int> read_power_of_two(std::string_view text);       // 1/4 -> -2, 2 -> 1
std::optional<bool> read_yes_no(std::string_view text);            // yes no true false

// 0-63, or a name of RFC 2474, 2597 or 3246: CS5, AF21, EF, BE.
std::optional<std::uint8_t> read_dscp(std::string_view text);
// One DSCP, or first-last.
std::optional<std::vector<std::uint8_t>> read_dscps(std::string_view text);

// A name, or names with one or more ranges [first-last] or [first-last:step]: "leaf[1-4]",
// "Ethernet[0-124:4]", "Ethernet[1-2]/[1-4]". At most kNamesMax names.
inline constexpr std::size_t kNamesMax = 4096;
std::optional<std::vector<std::string>> read_names(std::string_view text);

}  // namespace dlcp::fabric
