// Parses sizes, shares, durations and counts as people write them. Settings and command lines use
// only these functions, so that they accept the same forms. Nothing is guessed: spaces, signs
// before counts, unknown units, NaN and infinities are errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "util/time.h"

namespace dlcp {

// Digits only.
std::optional<std::uint64_t> parse_count(std::string_view text);

// A finite decimal number, which may be negative.
std::optional<double> parse_number(std::string_view text);

// Whole bytes: "4096", "64k" or "64KiB" (powers of 1024), "64KB" (powers of 1000), as in GNU
// coreutils; K, M, G and T in either case. nullopt also if the result exceeds 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// "0.01" or "1%", not negative; the caller checks whether it may exceed 1.
std::optional<double> parse_share(std::string_view text);

// "30", "1.5s", "200us", "2min", not negative, at most 30 years; a number without a unit is in
// `unit`. Units: ns, us, ms, s, min, h.
std::optional<Duration> parse_duration(std::string_view text, Duration unit);

// For error messages: how to write each kind.
inline constexpr const char* kBytesExample = "64k, 1MiB (powers of 1024) or 1MB (of 1000)";
inline constexpr const char* kShareExample = "0.01 or 1%";
inline constexpr const char* kDurationExample = "200us, 5ms or 1.5s";

}  // namespace dlcp
