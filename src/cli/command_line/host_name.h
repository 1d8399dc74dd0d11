// What this host calls itself.
#pragma once

#include <string>

namespace dlcp::cli {

std::string host_name();  // "" where the system does not say

}  // namespace dlcp::cli
