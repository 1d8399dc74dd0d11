// The name of this host.
#pragma once

#include <string>

namespace dlcp::cli {

std::string host_name();  // "" if the system call fails

}  // namespace dlcp::cli
