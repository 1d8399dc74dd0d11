// Finds the known name that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string_view>

namespace dlcp {

// One of `known`, or "" if none is similar: the edit distance may be at most one plus a quarter of
// the length, and at most four. Names of more than 64 bytes are similar to nothing, which limits
// the work.
std::string_view most_similar(std::string_view name, std::span<const std::string_view> known);

}  // namespace dlcp
