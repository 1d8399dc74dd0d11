// A file that is to be written, as a value.
#pragma once

#include <string>

namespace dlcp::fabric {

struct TextFile {
  std::string name;  // path below the folder that it is written into
  std::string text;
  bool executable = false;
};

}  // namespace dlcp::fabric
