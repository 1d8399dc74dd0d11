// The faults that a FaultyDatapath injects, and their text form for tests, settings and the command
// line: "drop=0.01,dup=0.001,reorder=0.02,corrupt=0.0001,delay_us=100,blackhole=3+5,seed=7".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

struct FaultSpec {
  double drop = 0;                    // share of packets lost
  std::uint32_t burst = 1;            // lost in a row each time; `drop` remains the overall share
  double duplicate = 0;               // "dup": share sent twice
  double reorder = 0;                 // share held back until later packets have overtaken them
  std::uint32_t reorder_packets = 8;  // at most this many packets overtake
  double corrupt = 0;                 // share with one flipped bit
  Duration delay{0};                  // "delay_us": added to every packet
  Duration jitter{0};                 // "jitter_us": further delay, uniform in 0..jitter
  std::vector<wire::PathIndex> blackholes;  // "blackhole=3+5": paths that lose all packets
  double blackhole_percent = 0;  // "blackhole=25%": this share of paths instead, chosen by seed
  std::uint64_t seed = 1;

  bool is_nothing() const;  // true if no packet is changed
  friend bool operator==(const FaultSpec&, const FaultSpec&) = default;
};

// Keys may be in any order, each at most once; an empty text means no faults. The error states key,
// value and range.
Result<FaultSpec> parse_fault_spec(std::string_view text);
// The inverse of parse_fault_spec; keys with their default value are left out.
std::string to_string(const FaultSpec& spec);

}  // namespace dlcp::datapath
