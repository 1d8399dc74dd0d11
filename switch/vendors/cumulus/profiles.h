// The content of DLCP's profiles: the site's leaf for leaf, with DLCP's in it. What DLCP says is
// targets/cumulus.mustache; what a profile of the site's keeps and loses is here.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/refuser.h"
#include "switch/vendors/sections.h"

namespace dlcp::fabric::cumulus {

class Profiles {
 public:
  Profiles(const Sections& templates, const SwitchPlan& plan, const Document& document,
           const Refuser& refuse)
      : templates_(templates), plan_(plan), document_(document), refuse_(refuse) {}

  // Switch priority -> queue, which is one map for the whole switch; by path.
  Leaves queue_mapping() const;
  // Of a profile called so today; paths below it.
  Leaves mapping(const std::string& base, const PortGroup& group) const;
  Leaves marking(const std::string& base, const PortGroupPlan& group) const;
  Leaves scheduler(const std::string& base, const PortGroupPlan& group) const;
  Leaves shaper(const std::string& base, const PortGroupPlan& group) const;
  // By name, the ACLs that make every DSCP of DLCP's this one, IPv4's and IPv6's, and what they say
  // below "acl/NAME/".
  std::map<std::string, Leaves> mark_acls(int remark_dscp) const;

 private:
  void fill(const std::string& section, const nlohmann::json& context, Leaves& to) const;
  nlohmann::json curve_rows(const PortGroupPlan& group) const;
  // Refuses what one curve cannot tell apart.
  std::optional<std::uint64_t> depth_of(const QueuePlan& queue, bool& drops) const;
  std::set<int> site_queues() const;

  const Sections& templates_;
  const SwitchPlan& plan_;
  const Document& document_;
  const Refuser& refuse_;
};

}  // namespace dlcp::fabric::cumulus
