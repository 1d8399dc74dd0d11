// NVIDIA Cumulus Linux: NVUE YAML in and out. The parts are in switch/vendors/cumulus/: document
// (leaves), import, render, files, constraints.
#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/shows.h"

namespace dlcp::fabric {
namespace {

class Cumulus final : public Vendor {
 public:
  std::string_view os() const override { return "cumulus"; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return cumulus::import_config(running);
  }
  Rendering render(const SwitchPlan& plan) const override {
    return cumulus::render_switch(templates_, plan);
  }

  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    return commands_of(shows_, plan);
  }
  Checked<std::vector<Finding>> verify(const SwitchPlan& plan,
                                       const NamedText& captured) const override {
    return judge_shown(shows_, plan, captured, queue_by_number);
  }

 private:
  const Shows shows_ = shows_of_target("cumulus");
  const Sections templates_ = sections_of_target("cumulus");
};

}  // namespace

std::unique_ptr<const Vendor> make_cumulus() {
  return std::make_unique<Cumulus>();
}

}  // namespace dlcp::fabric
