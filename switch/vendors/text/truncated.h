// Detects a truncated running configuration: a file copied while it was written, or an incomplete
// paste. JSON is checked by its braces (json_keys.h), lines by their ends.
#pragma once

#include <optional>
#include <string>

#include "switch/model/problem.h"

namespace dlcp::fabric {

// A warning if the last line has no line end: it may be truncated.
std::optional<Problem> truncated_last_line(const std::string& file, const std::string& text);

}  // namespace dlcp::fabric
