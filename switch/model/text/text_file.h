// A file for output, as a value.
#pragma once

#include <string>

namespace dlcp::fabric {

struct TextFile {
  std::string name;  // path relative to the output folder
  std::string text;
  bool executable = false;
};

}  // namespace dlcp::fabric
