// Linux tc, for software switches: a bash script that installs "ets" with tbf, red and gred on
// every port. The parts are in switch/vendors/tc/: tree (queues and thresholds as qdiscs), render,
// import, verify, and engine.sh, which is the same in every script.
#include "switch/vendors/tc/tc_parts.h"

namespace dlcp::fabric {
namespace {

class Tc final : public Vendor {
 public:
  std::string_view os() const override { return "tc"; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return tc::import_qdiscs(running);
  }
  Rendering render(const SwitchPlan& plan) const override {
    return tc::render_script(templates_, plan);
  }
  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    return tc::commands(plan);
  }
  Checked<std::vector<Finding>> verify(const SwitchPlan& plan,
                                       const NamedText& captured) const override {
    return tc::judge(plan, captured);
  }

 private:
  const Sections templates_ = sections_of_target("tc");
};

}  // namespace

std::unique_ptr<const Vendor> make_tc() {
  return std::make_unique<Tc>();
}

}  // namespace dlcp::fabric
