// What this host's kernel may drop before a job sees it: reverse-path filters, and rules of the
// packet filter where this user may read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/finding.h"
#include "datapath/udp/interfaces.h"

namespace dlcp::cli {

// Strict filters (rp_filter=1) among the devices; a warning where they can drop what a job needs:
// two devices in one subnet.
Findings check_reverse_path_filter(const std::vector<datapath::Interface>& devices,
                                   const std::string& proc_root = "/proc");

// Two devices in one subnet: peers may send to both by one of them.
Findings check_shared_subnets(const std::vector<datapath::Interface>& devices);

// Of `nft list ruleset`, as text: rules that drop or reject UDP ports that data uses, and input
// chains that drop what no rule accepts. It looks at rules about UDP ports alone, so a warning is
// the most that it says.
Findings judge_ruleset(std::string_view ruleset);
// That of this host; nothing where it cannot be read.
Findings check_ruleset();

}  // namespace dlcp::cli
