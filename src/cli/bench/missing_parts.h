// A sum that lacks contributions, and which number of them: found by trying, as nobody outside the
// plugin is told.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cli/bench/reduce.h"

namespace dlcp::cli {

// What is lost together: all elements of so many bytes lack the same contributions.
inline constexpr std::size_t kLossCellBytes = 128;

// How many of the ranks' `inputs`, of `bytes` each (a cell at most), are not in `seen`, with zeros
// in their place or their mean, bit for bit; up to three. nullopt: it is no such sum.
std::optional<std::size_t> missing_parts(const Reduction& reduction,
                                         std::span<const std::byte* const> inputs,
                                         std::size_t bytes, const std::byte* seen);

}  // namespace dlcp::cli
