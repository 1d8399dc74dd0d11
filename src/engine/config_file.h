// The text of a config file taken apart: `NAME = value` lines, `#` comments. A pure function of the
// text; which names exist and what values they take is the knob table's business.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace dlcp::engine {

struct Assignment {
  std::string name;
  std::string value;
  std::string origin;  // "FILE:LINE"
};

// `file` is the name used in origins and errors. Fails on the first line that is none of the above.
Result<std::vector<Assignment>> parse_config(std::string_view text, std::string_view file);

}  // namespace dlcp::engine
