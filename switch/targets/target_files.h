// The targets' files, compiled in: NAME.json, and NAME.mustache for targets with templates.
#pragma once

#include <string_view>
#include <vector>

namespace dlcp::fabric {

struct TargetFile {
  std::string_view data, text;  // text: templates; empty: none
};

// In the order in which targets are listed.
const std::vector<TargetFile>& target_files();

}  // namespace dlcp::fabric
