// SONiC: reads config_db.json, writes JSON patches for the generic configuration updater. The parts
// are in switch/vendors/sonic/: document (rows and patches), import, definitions, render,
// constraints.
#include "switch/vendors/counters/shows.h"
#include "switch/vendors/sonic/document.h"

namespace dlcp::fabric {
namespace {

class Sonic final : public Vendor {
 public:
  std::string_view os() const override { return "sonic"; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return sonic::import_config(running);
  }
  Rendering render(const SwitchPlan& plan) const override { return sonic::render_switch(plan); }
  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    return commands_of(shows_, plan);
  }
  Checked<std::vector<Finding>> verify(const SwitchPlan& plan,
                                       const NamedText& captured) const override {
    return judge_shown(shows_, plan, captured, queue_by_number);
  }

 private:
  const Shows shows_ = shows_of_target("sonic");
};

}  // namespace

std::unique_ptr<const Vendor> make_sonic() {
  return std::make_unique<Sonic>();
}

}  // namespace dlcp::fabric
