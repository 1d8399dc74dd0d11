// What shows that a running configuration was cut off: a file that was copied while it was written,
// or a paste that ended early. JSON shows it by its braces (json_keys.h), lines by their ends.
#pragma once

#include <optional>
#include <string>

#include "switch/model/problem.h"

namespace dlcp::fabric {

// A warning if the last line has no line end: it may have been longer.
std::optional<Problem> unfinished_line(const std::string& file, const std::string& text);

}  // namespace dlcp::fabric
