// What a switch is asked to do for gradients beside queues and thresholds. Each
// is a key of the intent file; what a target can do of it is in switch/targets/
// (`features`), and what it cannot is an error, not a silent omission.
#pragma once

#include <cstdint>
#include <optional>

namespace dlcp::fabric {

// How equal paths are chosen from.
enum class LoadBalancing {
  kHash,     // by the packet's fields, as every switch does
  kFlowlet,  // anew after a pause, by load
  kPacket,   // anew for every packet, by load: adaptive routing, spraying
};

// What a full queue cannot take is cut to its first bytes and goes on, instead
// of being dropped.
struct Trimming {
  std::uint64_t size_bytes = 0;      // what is kept of a packet; 0: the least that the target has
  std::optional<std::uint8_t> dscp;  // of what is left; nullopt: that of DLCP's control class
  bool operator==(const Trimming&) const = default;
};

// Pause frames that do not end stop the whole fabric: after `detect` the queue
// ignores them.
struct PfcWatchdog {
  unsigned detect_ms = 200, restore_ms = 200;
  bool operator==(const PfcWatchdog&) const = default;
};

struct Features {
  std::optional<LoadBalancing> load_balancing;
  std::optional<Trimming> trimming;
  std::optional<PfcWatchdog> pfc_watchdog;
  // Rows of these go, whoever wrote them: they bear no name of DLCP's that would say.
  bool remove_trimming = false, remove_pfc_watchdog = false;
};

}  // namespace dlcp::fabric
