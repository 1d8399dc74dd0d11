// An NVUE configuration as leaves: "qos/mapping/default-global/dscp/40/switch-priority" -> "5".
// Only what concerns QoS and ECMP is kept. Keys that name several ports or numbers ("swp1-4,swp6")
// are expanded, so that a leaf is one value of one port.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/sections.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cumulus {

using Leaves = std::map<std::string, std::string>;

// The four profiles that a port can have, and DLCP's copies of them. A profile of DLCP's is called
// "DLCP-" or "DLCP2-" and the name of the site's profile that it is a copy of.
inline constexpr const char* kMapping = "mapping";
inline constexpr const char* kMarking = "congestion-control";
inline constexpr const char* kScheduler = "egress-scheduler";
inline constexpr const char* kShaper = "egress-shaper";
inline constexpr const char* kDefaultProfile = "default-global";

bool is_own(std::string_view profile);
std::string_view site_name(std::string_view profile);

struct Document final : ImportedDocument {
  Leaves leaves;
  std::string mapping = kDefaultProfile;  // the site's profile that most ports have
  bool by_dscp = false;                   // that profile trusts DSCPs
  bool by_pcp = false;                    // and, of tagged packets, the VLAN priority
  int port_default = 0;                   // class of everything that is not trusted
};

// The leaves whose paths begin so, in order.
struct LeafRange {
  Leaves::const_iterator first, last;
  Leaves::const_iterator begin() const { return first; }
  Leaves::const_iterator end() const { return last; }
};
LeafRange leaves_from(const Leaves& leaves, const std::string& prefix);
// What stands in a path from there to the next slash, or to its end.
std::string name_at(const std::string& path, std::size_t begin);

std::string value_of(const Leaves& leaves, const std::string& path, std::string otherwise = "");
// The site's profile of a port: its own, or default-global.
std::string profile_of(const Leaves& leaves, const std::string& port, const char* feature);
// Leaves below "qos/FEATURE/PROFILE/", without that prefix; what a vendor's default leaves unsaid
// is filled in.
Leaves profile(const Leaves& leaves, const char* feature, const std::string& name);

Checked<Leaves> read_leaves(const NamedText& yaml);
std::string yaml_of(const Leaves& leaves);  // as a list of one `set` operation

struct LeafChange {
  std::string path;
  std::optional<std::string> before, after;
  Impact impact = Impact::kHitless;
};
struct Patch {
  std::string name;
  std::vector<LeafChange> leaves;
};

std::vector<Problem> check_leaves(const std::vector<Patch>& patches);
void write_files(const SwitchPlan& plan, const Leaves& running, std::vector<Patch>& patches,
                 Rendering& out);
Checked<SiteConfig> import_config(const NamedText& running);
Rendering render_switch(const Sections& templates, const SwitchPlan& plan);

}  // namespace dlcp::fabric::cumulus
