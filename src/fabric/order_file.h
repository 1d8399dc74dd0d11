// order.json: a fabric and the order of its hosts. `dlcp order` writes it; `dlcp synth`, `dlcp
// order exec`, the launchers' formats and the plugin read it. It can also be written by hand:
//
//   {"version": 1,
//    "hosts": [{"name": "gpu1", "gb_per_s": 100}, {"name": "gpu2"}],
//    "fabric": {"name": "fabric", "round_trip_us": 24, "groups": [
//      {"name": "leaf0", "round_trip_us": 16, "uplink_gb_per_s": 100, "hosts": ["gpu1", "gpu2"]}]},
//    "order": ["gpu2", "gpu1"],
//    "report": {...}}
//
// Members of a host: name, addresses, gb_per_s, slots, slow, silent; of a group: name,
// uplink_gb_per_s, round_trip_us, slow, and hosts, groups, or both. "order" may be missing: the
// hosts are then used in listed order. "report" is for readers and is ignored. Other members are
// errors, so that a misspelt one is detected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "util/result.h"

namespace dlcp::fabric {

inline constexpr int kOrderVersion = 1;
inline constexpr std::size_t kOrderBytesMax = std::size_t{64} << 20;

struct OrderFile {
  Fabric fabric;
  std::vector<int> order;  // hosts by node rank: a permutation of 0 .. hosts - 1
  std::string report;      // a JSON object as text, or empty; written, never read
};

// The error contains the position, the value seen, and the expected one.
Result<OrderFile> read_order(std::string_view text);
// Writes the form that read_order() reads. `file` must be valid: see check().
std::string write_order(const OrderFile& file);

// The order in which the hosts are listed.
std::vector<int> given_order(const Fabric& fabric);

}  // namespace dlcp::fabric
