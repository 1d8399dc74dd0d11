// The existing configuration of a switch, which must continue to work: the site's DSCP map, queues
// and lossless classes, declared in the intent file or imported from the running configuration.
// DLCP's rows are merged into it; no row of the site is changed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlcp::fabric {

inline constexpr int kDscpCount = 64;
inline constexpr int kQueueCount = 8;          // unicast queues of every supported target
inline constexpr int kTrafficClassesMax = 16;  // SONiC's range; most targets have 8

// The running configuration in its vendor's own form. Vendors derive their types from it; only the
// vendor that imported it uses its contents.
struct ImportedDocument {
  virtual ~ImportedDocument() = default;
};

struct SiteQueue {
  std::uint8_t queue = 0;
  std::string name;                 // the site's name for it; may be empty
  bool in_use = false;              // some DSCP outside DLCP's leads to it, or it is lossless
  bool lossless = false;            // PFC protects it
  bool strict = false;              // false: weighted
  std::optional<unsigned> weight;   // DWRR weight or percent, in the target's own scale
  std::optional<double> min_share;  // percent of the link that the site requires
  std::optional<std::uint64_t> shaped_bits_per_second;
  bool trimming = false;
  bool configured = false;  // the site configures it, whether or not a DSCP leads to it
};

// The limit of a queue's buffer whose row DLCP does not change, as it also covers queues of the
// site.
struct QueueLimit {
  std::uint8_t queue = 0;
  std::optional<int> alpha_exponent;  // dynamic threshold 2^n of the lossy pool; nullopt: `bytes`
  std::uint64_t bytes = 0;
  std::string source;  // the row
};

// A port's properties in the running configuration. Zero or empty: not stated.
struct SitePort {
  std::string name;
  std::uint64_t bits_per_second = 0;
  std::string lag;              // link aggregate that contains it
  bool rewrites_dscps = false;  // on egress, per traffic class: see SiteConfig::egress_rewrite
  unsigned cable_metres = 0;
  std::uint64_t headroom_bytes = 0;  // of one lossless priority
  std::vector<QueueLimit> limits;
};

struct SiteConfig {
  std::string source;  // file of the import, or the intent file that declares the site
  bool imported = false;
  std::array<std::optional<std::uint8_t>, kDscpCount> dscp_to_class;  // nullopt: not mapped today
  std::array<std::optional<std::uint8_t>, kTrafficClassesMax> class_to_queue;
  std::optional<std::uint8_t> unmapped_class;  // where the target sends DSCPs without a row
  std::uint8_t default_class = 0;  // class of unlisted DSCPs; DLCP may take DSCPs only from it
  std::array<SiteQueue, kQueueCount> queues;   // index = queue
  std::uint8_t pfc_priorities = 0;             // bit p: PFC is on for priority p on some port
  std::uint64_t lossy_pool_bytes = 0;          // 0: unknown
  std::optional<unsigned> lossy_pool_percent;  // of the chip's buffer
  std::uint64_t lossless_headroom_bytes = 0;
  std::optional<bool> pfc_watchdog;   // stops unending pause frames; nullopt: not known
  std::optional<unsigned> hash_seed;  // of ECMP, the system's default; nullopt: not known
  std::string hash_seed_source;       // row or line that sets it
  std::uint64_t permitted_dscps = 0;  // bit d: DLCP may take DSCP d from another class
  std::uint8_t permitted_queues = 0;  // bit q: the site gives queue q to DLCP
  std::uint64_t dlcp_dscps = 0;       // bit d: an earlier dlcp-switch mapped DSCP d (the vendor
                                      // recognises its own row names); it may be planned again
  std::uint8_t dlcp_queues = 0;       // bit q: likewise for queues
  std::vector<std::string> ports;     // ports in the document; empty: it does not list them
  std::vector<SitePort> port_facts;   // sorted by name; of ports that the document describes
  std::string hardware;               // hwsku in the document; empty: not stated
  std::string asic;                   // as the capability table names it, derived from `hardware`
  std::string egress_rewrite;         // the row or line that rewrites DSCPs on egress
  std::array<std::optional<std::uint8_t>, kTrafficClassesMax> class_to_dscp;  // what it writes
  std::string pool_source;                           // row that lossy_pool_bytes was read from
  std::shared_ptr<const ImportedDocument> document;  // null if the site is declared
};

// nullptr: the document does not describe this port.
const SitePort* find_port(const SiteConfig& site, const std::string& name);

}  // namespace dlcp::fabric
