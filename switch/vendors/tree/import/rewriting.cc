// Determines the rewriting of DSCPs on egress at each port from facts.
#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

class Rewriting {
 public:
  Rewriting(const Target& target, const Facts& facts, const Document& document, SiteConfig& site)
      : target_(target), facts_(facts), document_(document), site_(site) {}

  void read() {
    for (const Fact& fact : of(facts_, "rewrite"))
      read_ports(fact);
    if (site_.egress_rewrite.empty()) return;
    for (std::size_t c = 0; c < target_.usual_rewriting.size(); ++c)
      site_.class_to_dscp[c] = static_cast<std::uint8_t>(target_.usual_rewriting[c]);
    for (const Fact& fact : of(facts_, "rewrite_dscp")) {
      const auto queue = queue_named(document_, held(fact.held, "class"));
      const auto dscp = dscp_of(held(fact.held, "dscp"));
      if (queue && dscp && held(fact.held, "profile") == profile_)
        site_.class_to_dscp[static_cast<std::size_t>(*queue)] = static_cast<std::uint8_t>(*dscp);
    }
  }

 private:
  // For one port, for the ports with a profile, or for all ports.
  void read_ports(const Fact& fact) {
    const auto name = held(fact.held, "port"), profile = held(fact.held, "profile");
    bool any = profile.empty();
    for (SitePort& port : site_.port_facts) {
      if (!profile.empty() && profile_of(port.name) != profile) continue;
      if (!name.empty() && port.name != name) continue;
      port.rewrites_dscps = any = true;
    }
    if (!any || !site_.egress_rewrite.empty()) return;
    site_.egress_rewrite = fact.from->text;
    profile_ = profile;
  }

  std::string profile_of(const std::string& port) const {
    for (const Fact& fact : of(facts_, "rewriter"))
      if (held(fact.held, "port") == port) return held(fact.held, "profile");
    return target_.usual_rewriter;
  }

  const Target& target_;
  const Facts& facts_;
  const Document& document_;
  SiteConfig& site_;
  std::string profile_;  // the first profile that rewrites; its map is used
};

}  // namespace

void read_rewriting(const Target& target, const Facts& facts, const Document& document,
                    SiteConfig& site) {
  Rewriting(target, facts, document, site).read();
}

}  // namespace dlcp::fabric::tree
