// The contents of messages in the simulated world: pieces of two long patterns. Each pattern is
// made once per process, because making megabytes for each of thousands of short seeds would take
// longer than the seeds.
#pragma once

#include <cstddef>
#include <vector>

namespace dlcp::test {

inline constexpr std::size_t kPatternBytes = std::size_t{8} << 20;

// Random words. As floats all of them are finite, so that licensed messages can be scored.
const std::vector<std::byte>& random_pattern();
// Runs of 3 to 200 KiB each of normally distributed bf16 and fp32, fp32 with 16 zero bits, zeros
// with some non-zero rows, and random words. All are finite as floats.
const std::vector<std::byte>& gradient_pattern();

}  // namespace dlcp::test
