// Features for gradients that a switch may have in addition to queues and thresholds. Each is a key
// of the intent file. switch/targets/ (`features`) says which targets support it; a request that a
// target does not support is an error.
#pragma once

#include <cstdint>
#include <optional>

namespace dlcp::fabric {

// How a switch chooses among equal paths.
enum class LoadBalancing {
  kHash,     // by a hash of header fields, the default of every switch
  kFlowlet,  // chosen again after a pause, by load
  kPacket,   // chosen for every packet, by load: adaptive routing, spraying
};

// A packet that does not fit into a full queue is cut to its first bytes and forwarded, instead of
// being dropped.
struct Trimming {
  std::uint64_t size_bytes = 0;      // remaining size of a packet; 0: the target's minimum
  std::optional<std::uint8_t> dscp;  // of trimmed packets; nullopt: that of DLCP's control class
  bool operator==(const Trimming&) const = default;
};

// Unending pause frames can stop the whole fabric: after `detect_ms` the queue ignores them.
struct PfcWatchdog {
  unsigned detect_ms = 200, restore_ms = 200;
  bool operator==(const PfcWatchdog&) const = default;
};

struct Features {
  std::optional<LoadBalancing> load_balancing;
  std::optional<Trimming> trimming;
  std::optional<PfcWatchdog> pfc_watchdog;
  // Removes the rows of these features, including the site's, as they have no name that identifies
  // DLCP.
  bool remove_trimming = false, remove_pfc_watchdog = false;
};

}  // namespace dlcp::fabric
