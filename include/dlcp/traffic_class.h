// The only table of DLCP's traffic classes: how the sender marks packets and how the switch treats
// them. The plugin and dlcp-switch both use it; no other part of the project may define a DSCP or
// an ECN role.
//
// The default DSCPs overlap uses that RFC 4594 suggests (CS5 signalling, AF2x low-latency data,
// AF1x bulk). A site must check its own DSCP map before it enables them, and can override each one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlcp {

// The values are part of the wire format (three bits of every data packet) and must not change.
enum class TrafficClass : std::uint8_t {
  kControl = 0,          // handshake, acknowledgements, probes
  kExact = 1,            // all data without a licence to lose
  kUrgentProtected = 2,  // gradients that the next forward pass needs first; large magnitudes
  kUrgentDroppable = 3,  // the same layers; small magnitudes
  kBulkProtected = 4,    // gradients of the other layers; large magnitudes
  kBulkMiddle = 5,       // the same layers; used only if the switch distinguishes three levels
  kBulkDroppable = 6,    // the same layers; small magnitudes
};
inline constexpr std::size_t kTrafficClassCount = 7;

// The two ECN bits of the IP header (RFC 3168, section 5).
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

// The switch queue of a class. The order is not a priority; the generator sets the weights.
enum class SwitchQueue : std::uint8_t { kStrictHigh, kExact, kUrgent, kBulk };

// How the switch may treat a packet of the class once the queue is above its early threshold.
enum class EarlyTreatment : std::uint8_t {
  kNone,  // neither marked nor dropped early
  kMark,  // ECN-capable: marked with CE
  kDrop,  // not ECN-capable: dropped, earlier for a higher drop precedence
};

struct TrafficClassRow {
  TrafficClass traffic_class;
  const char* name;  // as in override files, counters and reports
  SwitchQueue queue;
  std::uint8_t dscp;             // default differentiated-services code point, 0-63
  std::uint8_t drop_precedence;  // 1 = dropped last ... 3 = dropped first (RFC 2597)
  Ecn ecn;                       // written by the sender
  EarlyTreatment early;
};

inline constexpr std::array<TrafficClassRow, kTrafficClassCount> kTrafficClasses = {{
    {TrafficClass::kControl, "control", SwitchQueue::kStrictHigh, 40, 1, Ecn::kEct0,
     EarlyTreatment::kNone},
    {TrafficClass::kExact, "exact", SwitchQueue::kExact, 18, 1, Ecn::kEct0, EarlyTreatment::kMark},
    {TrafficClass::kUrgentProtected, "urgent-protected", SwitchQueue::kUrgent, 20, 2, Ecn::kEct0,
     EarlyTreatment::kMark},
    {TrafficClass::kUrgentDroppable, "urgent-droppable", SwitchQueue::kUrgent, 22, 3, Ecn::kNotEct,
     EarlyTreatment::kDrop},
    {TrafficClass::kBulkProtected, "bulk-protected", SwitchQueue::kBulk, 10, 1, Ecn::kEct0,
     EarlyTreatment::kMark},
    {TrafficClass::kBulkMiddle, "bulk-middle", SwitchQueue::kBulk, 12, 2, Ecn::kNotEct,
     EarlyTreatment::kDrop},
    {TrafficClass::kBulkDroppable, "bulk-droppable", SwitchQueue::kBulk, 14, 3, Ecn::kNotEct,
     EarlyTreatment::kDrop},
}};

constexpr const TrafficClassRow& row_of(TrafficClass traffic_class) {
  return kTrafficClasses[static_cast<std::size_t>(traffic_class)];
}

// How the bytes of a licensed stream divide over its classes by magnitude. Both the sender's
// quantiles and the planned queue depths of switches are derived from these shares, so that each
// depth fits the traffic that arrives. The bulk shares add up to 1, and so do the urgent shares.
struct LevelShares {
  double bulk_droppable, bulk_middle, bulk_protected;
  double urgent_droppable, urgent_protected;
};
// The default: senders use two levels of bulk and never mark packets as bulk-middle.
inline constexpr LevelShares kTwoLevelShares = {0.25, 0, 0.75, 0.25, 0.75};
// Three levels of bulk: the droppable packets of kTwoLevelShares in two levels. Switches drop the
// level with the smallest magnitudes first. Switches with two levels put both into one queue level,
// so the same traffic can cross both kinds of switches.
inline constexpr LevelShares kThreeLevelShares = {0.10, 0.15, 0.75, 0.25, 0.75};

// The IPv4 TOS or IPv6 traffic-class byte: DSCP in the upper six bits, ECN in the lower two.
constexpr std::uint8_t tos_of(const TrafficClassRow& row) {
  return static_cast<std::uint8_t>(row.dscp << 2 | static_cast<std::uint8_t>(row.ecn));
}

}  // namespace dlcp
