// The kernel's reverse-path filter (sysctl rp_filter, RFC 3704) for IPv4. A strict filter drops a
// packet unless the route back to its sender uses the link on which it arrived.
#pragma once

#include <string>

namespace dlcp::datapath {

// Also false if the setting cannot be read, as in a sandbox without /proc/sys.
bool filters_strictly(const std::string& interface, const std::string& proc_root = "/proc");

}  // namespace dlcp::datapath
