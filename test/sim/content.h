// What the messages of the simulated world hold: pieces of two long patterns, made once per
// process, because making megabytes for each of thousands of short seeds would take longer than the
// seeds.
#pragma once

#include <cstddef>
#include <vector>

namespace dlcp::test {

inline constexpr std::size_t kPatternBytes = std::size_t{8} << 20;

// Random words. As floats all of them are finite, so that licensed messages can be scored.
const std::vector<std::byte>& random_pattern();
// Runs of 3 to 200 KiB of each of: bf16 and fp32 that are normally distributed, fp32 with 16 zero
// bits, zeros with some non-zero rows, random words. All are finite as floats.
const std::vector<std::byte>& gradient_pattern();

}  // namespace dlcp::test
