// The known name that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string_view>

namespace dlcp {

// One of `known`, or "" if none is similar: at most a letter in four may differ, plus one, and
// four at most (edit distance). Names of more than 64 bytes are similar to nothing, which bounds
// the work.
std::string_view most_similar(std::string_view name, std::span<const std::string_view> known);

}  // namespace dlcp
