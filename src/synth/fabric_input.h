// The topology of a fabric that `dlcp order` measured: a switch for every group, hosts in the order
// that the file gives.
#pragma once

#include <string_view>

#include "synth/topology.h"

namespace dlcp::synth {

// Whether a file looks like order.json.
bool is_order_file(std::string_view text);
// Rates that were not measured are 100 Gbit/s, or no limit for uplinks; both are noted. A host of
// several slots is one rank. Silent hosts are left out. Settled.
Result<Topology> parse_order_file(std::string_view text, const std::string& source);

}  // namespace dlcp::synth
