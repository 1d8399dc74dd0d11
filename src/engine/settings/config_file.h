// Parses the text of a config file: `NAME = value` lines and `#` comments. Names and values are
// checked against the table of knobs, not here.
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

// `file` is the name used in origins and errors. Fails on the first invalid line.
Result<std::vector<Assignment>> parse_config(std::string_view text, std::string_view file);

}  // namespace dlcp::engine
