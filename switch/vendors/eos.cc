// Arista EOS: the QoS part of a running-config in, CLI text out. The parts are in
// switch/vendors/eos/: document, import, render.
#include "switch/vendors/eos/document.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric {
namespace {

class Eos final : public Vendor {
 public:
  std::string_view os() const override { return "eos"; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return eos::import_config(running);
  }
  Rendering render(const SwitchPlan& plan) const override { return eos::render_switch(plan); }

  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    std::vector<VerifyCommand> list = {
        {"show qos maps", "DLCP's DSCPs with their drop precedence, the site's as they were"},
        {"show qos profile",
         "every line of the DLCP profiles is there: what a platform does not "
         "know it leaves out"},
        {"show load-balance profile", "UDP source port is among the ECMP fields"},
    };
    for (const auto& group : plan.groups) {
      if (group.group.ports.empty()) continue;
      const auto& port = group.group.ports.front();
      list.push_back({"show interfaces " + port + " counters queue drop-precedence",
                      "drops in precedence 2 before 1, and none in 0"});
      list.push_back({"show qos interfaces " + port + " ecn counters queue",
                      "marks in DLCP's queues, none in the strict one"});
      list.push_back({"show interfaces " + port + " counters queue detail",
                      "no drops in the strict queue and in the site's lossless queue"});
    }
    list.push_back({"show priority-flow-control counters", "as before for the site's priorities"});
    return list;
  }

  Checked<std::vector<Finding>> verify(const SwitchPlan& /*plan*/,
                                       const NamedText& captured) const override {
    return not_judged("EOS", captured);
  }
};

}  // namespace

std::unique_ptr<const Vendor> make_eos() {
  return std::make_unique<Eos>();
}

}  // namespace dlcp::fabric
