// The one table of DLCP's traffic classes: what the sender marks and what the switch does with it.
// The plugin and dlcp-switch both read it; nothing else in the project may define a DSCP or an ECN
// role.
//
// The default DSCPs overlap uses that RFC 4594 suggests (CS5 signalling, AF2x low-latency data,
// AF1x bulk): a site checks its own map before it enables them, and may override each one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlcp {

// Values go on the wire (three bits of every data packet): never renumber.
enum class TrafficClass : std::uint8_t {
  kControl = 0,          // handshake, acknowledgements, probes
  kExact = 1,            // everything that is not licensed to lose
  kUrgentProtected = 2,  // gradients the next forward pass needs first; large magnitudes
  kUrgentDroppable = 3,  // the same layers; small magnitudes
  kBulkProtected = 4,    // gradients of the other layers; large magnitudes
  kBulkMiddle = 5,       // the same layers; used only where the switch knows three colours
  kBulkDroppable = 6,    // the same layers; small magnitudes
};
inline constexpr std::size_t kTrafficClassCount = 7;

// The two ECN bits of the IP header (RFC 3168, section 5).
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

// The switch queue a class belongs to. Order is not priority; the generator gives each its weight.
enum class SwitchQueue : std::uint8_t { kStrictHigh, kExact, kUrgent, kBulk };

// What the switch may do to a packet of the class once the queue is above its early threshold.
enum class EarlyTreatment : std::uint8_t {
  kNone,  // neither marked nor dropped early
  kMark,  // ECN-capable: marked with CE
  kDrop,  // not ECN-capable: dropped, earlier for a higher drop precedence
};

struct TrafficClassRow {
  TrafficClass traffic_class;
  const char* name;  // as override files, counters and reports spell it
  SwitchQueue queue;
  std::uint8_t dscp;             // default differentiated-services code point, 0-63
  std::uint8_t drop_precedence;  // 1 = dropped last ... 3 = dropped first (RFC 2597)
  Ecn ecn;                       // what the sender writes
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

// How the bytes of a licensed stream divide over its classes by magnitude. The sender's quantiles
// and the planned depths of switches both come from here, so that a queue is as deep as what
// arrives needs. Those of bulk sum to 1, those of urgent likewise.
struct LevelShares {
  double bulk_droppable, bulk_middle, bulk_protected;
  double urgent_droppable, urgent_protected;
};
// What senders mark unless they are told of three levels of bulk. They never mark bulk-middle then.
inline constexpr LevelShares kTwoLevelShares = {0.25, 0, 0.75, 0.25, 0.75};
// Three levels: the same packets may be dropped, the smallest of them first. A switch of two levels
// drops both alike, so that fabrics of both kinds carry the same traffic.
inline constexpr LevelShares kThreeLevelShares = {0.10, 0.15, 0.75, 0.25, 0.75};

// The IPv4 TOS or IPv6 traffic-class byte: DSCP in the upper six bits, ECN in the lower two.
constexpr std::uint8_t tos_of(const TrafficClassRow& row) {
  return static_cast<std::uint8_t>(row.dscp << 2 | static_cast<std::uint8_t>(row.ecn));
}

}  // namespace dlcp
