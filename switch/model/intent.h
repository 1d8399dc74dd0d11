// The intent file, parsed and typed: a network engineer's description of the fabric in about twenty
// lines. intent_file.h reads it; this header holds only values, each with its line so that later
// stages can report it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dlcp/traffic_class.h"
#include "switch/model/features.h"
#include "switch/model/problem.h"
#include "switch/model/site/site.h"

namespace dlcp::fabric {

enum class SwitchRole { kLeaf, kSpine, kSuperSpine, kOther };
enum class PortRole { kHost, kFabric };

// How a port treats DSCPs of arriving packets. Any tenant can mark CS5, so host ports must state
// it.
enum class Trust {
  kTrusted,   // marks are accepted unchanged; all fabric ports
  kRemarked,  // DLCP's DSCPs are rewritten to `remark_dscp`: no DLCP sender is behind this port
};

enum class Overlay { kNone, kVxlanUniform };  // uniform: outer DSCP and ECN copied, both ways

struct PendingImport;  // switch/model/site/site_import.h

struct PortGroup {
  int line = 0;
  std::vector<std::string> ports;  // expanded, as the switch names them
  PortRole role = PortRole::kFabric;
  Trust trust = Trust::kTrusted;
  std::uint8_t remark_dscp = 0;  // for Trust::kRemarked
  std::uint64_t bits_per_second = 0;
  bool speed_stated = false;       // by the port group, not by fabric.link_speed
  double incast_degree = 0;        // senders that may burst to one port at once
  std::vector<std::string> hosts;  // behind the ports, in their order; empty: not named
  std::string lag;                 // link aggregate these ports are members of; empty: none
  unsigned cable_metres = 0;       // longest cable of the ports; 0: not stated
};

struct SwitchIntent {
  int line = 0;
  std::string name;     // also the folder of its output: [A-Za-z0-9._-]+
  std::string os;       // "sonic", "cumulus", "eos", "tc"
  std::string version;  // as written: "202311", "5.14"
  std::string asic;     // "tomahawk4", "spectrum3", ... ; "software" for tc
  std::string sku;      // the vendor's hardware name; may be empty
  SwitchRole role = SwitchRole::kOther;
  Overlay overlay = Overlay::kNone;
  std::uint64_t lossy_pool_bytes = 0;  // 0: imported, or the ASIC's conservative default
  std::optional<int> alpha_exponent;   // dynamic threshold 2^n; nullopt: the plan chooses
  std::optional<unsigned> hash_seed;
  Features features;
  std::vector<PortGroup> port_groups;
  std::shared_ptr<const SiteConfig> site;       // null only while `import` is pending
  std::shared_ptr<const PendingImport> import;  // null: the site is declared
};

struct FabricIntent {
  std::string name;
  std::uint64_t base_rtt_ns = 0;
  std::uint64_t mtu_bytes = 0;  // of IP packets
  double saturated_queues = 0;  // queues of one switch expected to be full at once
};

struct DlcpIntent {
  std::array<TrafficClassRow, kTrafficClassCount> classes;  // the table with the site's overrides
  LevelShares level_shares;
  LevelShares sent_shares = kTwoLevelShares;  // of the hosts' marks: class file, else default
  int shares_line = 0;                        // of `level_shares`; 0: the plan uses `sent_shares`
  double strict_percent = 0;                  // cap of the strict queue
  double exact_percent = 0, urgent_percent = 0, bulk_percent = 0;  // guaranteed parts of a link
  std::array<std::optional<std::uint8_t>, 4> queue_of;  // index SwitchQueue; nullopt: any free one
};

// Another job's DLCP on the same switches. It has its own DSCPs, and therefore its own queues and
// shares. All tenants share the control queue.
struct TenantIntent {
  int line = 0;
  std::string name;     // part of its queues' names: [A-Za-z0-9_-]+
  std::string classes;  // file of its DSCPs, which its hosts name in DLCP_CLASSES
  DlcpIntent dlcp;
};

struct Intent {
  std::string file;
  FabricIntent fabric;
  DlcpIntent dlcp;                    // of the first tenant, which has no name
  std::vector<TenantIntent> tenants;  // the other tenants
  std::vector<SwitchIntent> switches;
};

// Tenant 0 is `dlcp`.
const DlcpIntent& tenant_of(const Intent& intent, std::size_t tenant);
std::uint64_t dscps_of(const Intent& intent);  // bit d: some tenant marks DSCP d

// "`what` on switch 'leaf1'", at the switch's line of the intent file.
Problem problem_at(const Intent& intent, const SwitchIntent& device, std::string what);

const char* name_of(SwitchRole role);
const char* name_of(PortRole role);
const char* name_of(SwitchQueue queue);  // "control", "exact", "urgent", "bulk"

}  // namespace dlcp::fabric
