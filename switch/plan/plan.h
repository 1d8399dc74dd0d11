// The plan of one switch, vendor-neutral and in bytes, restricted to the target's capabilities.
// Every renderer translates it into its own syntax. It contains every number that a renderer
// prints; renderers only convert units.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switch/capability/capability.h"
#include "switch/model/intent.h"

namespace dlcp::fabric {

enum class Owner { kSite, kDlcp };

// A row for each of the 64 DSCPs. Rows of the site are kept unchanged.
struct DscpRow {
  Owner owner = Owner::kSite;
  bool mapped = false;  // false: the site does not map this DSCP, and it remains unmapped
  std::uint8_t traffic_class = 0, queue = 0;
  std::uint8_t drop_precedence = 0;  // DLCP's rows: 0 = dropped last ... 2 = dropped first
};

// A drop level of a queue. The last level of a queue is its protected one.
struct Level {
  std::vector<TrafficClass> classes;
  std::vector<std::uint8_t> dscps;
  double share = 0;                         // of the queue's offered bytes
  std::uint8_t drop_precedence = 0;         // 2 = dropped first; as in DscpRow
  bool ect = false;                         // its packets are ECN-capable
  std::uint64_t needs_bytes = 0;            // depth from the arithmetic (D_i)
  std::optional<std::uint64_t> drop_bytes;  // early-drop depth, a step; nullopt: tail drop only
};

struct QueuePlan {
  std::uint8_t queue = 0, traffic_class = 0;
  std::string name;  // "control", "exact", "urgent", "bulk", joined with '+' if merged
  std::vector<SwitchQueue> carries;
  // Whose shares it has; a strict queue carries the control packets of all tenants.
  std::size_t tenant = 0;
  bool strict = false;
  std::uint64_t shape_bits_per_second = 0;  // strict queues: always > 0
  std::uint64_t shape_burst_bytes = 0;      // may be sent at once above that rate
  unsigned weight = 0;       // weighted queues: in the target's scale, relative to the site's
  double share_percent = 0;  // of the link, when all queues are busy
  std::optional<std::uint64_t> mark_bytes;  // ECN knee, a step; nullopt: not marked
  std::vector<Level> levels;                // dropped first ... dropped last; never empty
  int alpha_exponent = 0;                   // dynamic threshold 2^n of the shared lossy pool
  std::uint64_t limit_bytes = 0;            // Q*: depth at which everything is dropped
};

struct PortGroupPlan {
  PortGroup group;
  std::uint64_t bdp_bytes = 0;
  std::uint64_t headroom_bytes = 0;  // of each lossless priority of the site; 0: not known
  std::vector<QueuePlan> queues;     // DLCP's, by queue index; only byte and bit figures differ
                                     // between the groups of a switch
};

// A requested property that the switch cannot provide.
struct Merge {
  std::string what;    // "bulk-middle joins bulk-droppable in queue 2"
  std::string reason;  // "sonic on tomahawk4 tells two levels apart (ECT)"
};

// Features to render; absent ones are not rendered.
struct TrimmingPlan {
  std::uint64_t size_bytes = 0;      // 0: the switch's default
  std::uint8_t dscp = 0, queue = 0;  // of trimmed packets
};

struct PlannedFeatures {
  std::optional<LoadBalancing> load_balancing;  // never kHash, the default of every target
  std::optional<TrimmingPlan> trimming;         // of every weighted queue of DLCP
  std::optional<PfcWatchdog> pfc_watchdog;
  std::optional<unsigned> hash_seed;
  bool remove_trimming = false, remove_pfc_watchdog = false;  // rows without an owner's name
};

struct SwitchPlan {
  std::string name, os, version, asic, sku;
  SwitchRole role = SwitchRole::kOther;
  Overlay overlay = Overlay::kNone;
  Capabilities capabilities;
  std::shared_ptr<const SiteConfig> site;
  std::array<TrafficClassRow, kTrafficClassCount> classes;  // of the first tenant
  std::vector<std::string> tenants;                         // names of the other tenants
  std::vector<std::array<TrafficClassRow, kTrafficClassCount>> tenant_classes;  // by tenant
  std::uint64_t dlcp_dscps = 0;  // bit d: some tenant marks DSCP d
  std::array<DscpRow, kDscpCount> dscp;
  std::vector<PortGroupPlan> groups;
  std::optional<unsigned> hash_seed;  // as stated, or the switch's default
  PlannedFeatures features;
  // By the DSCP to which untrusted ports' marks are rewritten: the class that carries only those
  // packets.
  std::map<std::uint8_t, std::uint8_t> remark_classes;
  std::vector<Merge> merges;
  std::vector<std::string> reasoning;  // lines for --explain
};

// Errors: collisions with the site's map, no free queue, levels that cannot be merged to fit.
Checked<SwitchPlan> plan_switch(const Intent& intent, const SwitchIntent& device);

}  // namespace dlcp::fabric
