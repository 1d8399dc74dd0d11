// A topology as a list of ranks, switches and links: the plainest input, YAML or JSON.
//
//   name: two leaves
//   message: 1us                  cost of a message at its sender and its receiver
//   latency: 1us                  of links without their own latency
//   ranks: h[0-7]
//   switches: ['leaf[0-1]', {name: nv, multicast: yes}]
//   groups: ['h[0-3]', 'h[4-7]']     optional: ranks that belong together
//   links:
//     - {from: 'h[0-3]', to: leaf0, rate: 100G}                  both ways; each with each
//     - {from: 'leaf[0-1]', to: spine, rate: 400G, latency: 2us, count: 2}
//     - {from: h0, to: h1, rate: 12.5GB/s, one_way: yes}
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::synth {

// `source` names the file in errors. The result is settled.
Result<Topology> parse_links(const std::string& text, const std::string& source);

}  // namespace dlcp::synth
