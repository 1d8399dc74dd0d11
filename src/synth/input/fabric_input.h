// The topology of a fabric that `dlcp order` measured: a switch for every group, hosts in the
// file's order.
#pragma once

#include <string_view>

#include "synth/topology.h"

namespace dlcp::synth {

// Whether a file looks like order.json.
bool is_order_file(std::string_view text);
// Hosts without a measured rate get 100 Gbit/s, uplinks without one are unlimited; notes report
// both. A host with several slots is one rank. Silent hosts are left out. The result is settled.
Result<Topology> parse_order_file(std::string_view text, const std::string& source);

}  // namespace dlcp::synth
