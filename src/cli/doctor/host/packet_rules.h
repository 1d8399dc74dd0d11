// Reasons for which this host's kernel may drop packets before a job receives them: reverse-path
// filters, and rules of the packet filter if this user may read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/finding.h"
#include "datapath/udp/interfaces/interfaces.h"

namespace dlcp::cli {

// Strict filters (rp_filter=1) on the devices; a warning if they can drop packets that a job needs:
// with another interface of the host, `existing`, in the subnet of a device.
Findings check_reverse_path_filter(const std::vector<datapath::Interface>& devices,
                                   const std::vector<datapath::InterfaceAddress>& existing,
                                   const std::string& proc_root = "/proc");

// A device and another interface of the host in one subnet: peers may use the same one to reach
// both addresses.
Findings check_shared_subnets(const std::vector<datapath::Interface>& devices,
                              const std::vector<datapath::InterfaceAddress>& existing);

// Checks the output of `nft list ruleset`: rules that drop or reject UDP ports that data uses, and
// input chains that drop by default. It interprets only rules about UDP ports, so it reports at
// most a warning.
Findings judge_ruleset(std::string_view ruleset);
// Checks the ruleset of this host; no findings if it cannot be read.
Findings check_ruleset();

}  // namespace dlcp::cli
