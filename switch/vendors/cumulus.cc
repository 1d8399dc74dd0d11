// NVIDIA Cumulus Linux: NVUE YAML in and out. The parts are in switch/vendors/cumulus/: document
// (leaves), import, render, files, constraints.
#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric {
namespace {

class Cumulus final : public Vendor {
 public:
  std::string_view os() const override { return "cumulus"; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return cumulus::import_config(running);
  }
  Rendering render(const SwitchPlan& plan) const override { return cumulus::render_switch(plan); }

  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    std::vector<VerifyCommand> list = {
        {"nv show qos mapping", "a DLCP profile beside the site's"},
        {"nv show qos egress-queue-mapping default-global", "DLCP's priorities lead to its queues"},
        {"nv show system forwarding ecmp-hash", "source-port is on"},
    };
    for (const auto& group : plan.groups) {
      if (group.group.ports.empty()) continue;
      const auto& port = group.group.ports.front();
      list.push_back({"nv show interface " + port + " qos congestion-control",
                      "thresholds within 10 % of the plan (the ASIC rounds to its cells)"});
      list.push_back({"nv show interface " + port + " qos egress-scheduler",
                      "the site's percentages are as they were"});
      list.push_back({"nv show interface " + port + " counters qos",
                      "no drops in the control queue and in the site's lossless queue"});
    }
    return list;
  }

  Checked<std::vector<Finding>> verify(const SwitchPlan& /*plan*/,
                                       const NamedText& captured) const override {
    return not_judged("Cumulus", captured);
  }
};

}  // namespace

std::unique_ptr<const Vendor> make_cumulus() {
  return std::make_unique<Cumulus>();
}

}  // namespace dlcp::fabric
