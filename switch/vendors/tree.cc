// Makes a vendor of every target that is data (switch/targets/).
#include "switch/vendors/tree/import/facts.h"
#include "switch/vendors/tree/render/wanted.h"

namespace dlcp::fabric {
namespace {

class TreeVendor final : public Vendor {
 public:
  explicit TreeVendor(const tree::Target& target) : target_(target) {}

  std::string_view os() const override { return target_.os; }
  Checked<SiteConfig> import(const NamedText& running) const override {
    return tree::import_config(target_, running);
  }
  Rendering render(const SwitchPlan& plan) const override {
    return tree::render_switch(target_, plan);
  }

  std::string queue_name(const SwitchPlan& plan, int queue) const override {
    static const tree::Document kDeclared;
    const auto* imported = dynamic_cast<const tree::Document*>(plan.site->document.get());
    return tree::queue_name(imported != nullptr ? *imported : kDeclared, queue);
  }

  std::vector<VerifyCommand> verify_commands(const SwitchPlan& plan) const override {
    return commands_of(target_.shows, plan);
  }

  Checked<std::vector<Finding>> verify(const SwitchPlan& plan,
                                       const NamedText& captured) const override {
    static const tree::Document kDeclared;
    const auto* document = dynamic_cast<const tree::Document*>(plan.site->document.get());
    if (document == nullptr) document = &kDeclared;
    const auto queue_of = [document](const std::string& name) -> std::optional<int> {
      if (const auto known = tree::queue_named(*document, name)) return known;
      for (int queue = 0; queue < kQueueCount; ++queue)
        if (name == tree::queue_name(*document, queue)) return queue;
      return std::nullopt;
    };
    return judge_shown(target_.shows, plan, captured, queue_of);
  }

 private:
  const tree::Target& target_;
};

}  // namespace

std::vector<std::unique_ptr<const Vendor>> make_tree_vendors() {
  std::vector<std::unique_ptr<const Vendor>> vendors;
  for (const tree::Target& target : tree::targets())
    vendors.push_back(std::make_unique<TreeVendor>(target));
  return vendors;
}

}  // namespace dlcp::fabric
