// The built-in targets, and their common messages. A new vendor adds its factory to the list.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "switch/plan/remarking.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric {
namespace {

std::vector<std::unique_ptr<const Vendor>> make_all() {
  std::vector<std::unique_ptr<const Vendor>> vendors;
  vendors.push_back(make_sonic());
  vendors.push_back(make_tc());
  for (auto& vendor : make_tree_vendors())
    vendors.push_back(std::move(vendor));
  return vendors;
}

}  // namespace

const Vendor* find_vendor(std::string_view os) {
  static const auto kVendors = make_all();
  const auto found = std::find_if(kVendors.begin(), kVendors.end(),
                                  [os](const auto& vendor) { return vendor->os() == os; });
  return found == kVendors.end() ? nullptr : found->get();
}

std::string text_of(const Finding& finding) {
  return finding.cause.empty() ? finding.what : finding.what + "; " + finding.cause;
}

const char* name_of(Impact impact) {
  switch (impact) {
    case Impact::kHitless:
      return "hitless";
    case Impact::kDropsTraffic:
      return "drops traffic";
    case Impact::kPortFlap:
      return "port flap";
    case Impact::kReload:
      return "reload";
    case Impact::kUnknown:
      break;
  }
  return "unknown";
}

Problem refusal(const SwitchPlan& plan, std::string what, std::string seen, std::string expected,
                std::string hint) {
  return {Severity::kError,
          plan.site->source,
          0,
          plan.name + ": " + std::move(what),
          std::move(seen),
          std::move(expected),
          std::move(hint)};
}

std::string remark_warning(const SwitchPlan& plan) {
  for (const auto& group : plan.groups) {
    if (group.group.trust != Trust::kRemarked || rewrites_marks(plan, group.group)) continue;
    return fmt::format(
        "packets from untrusted ports are classified as DSCP {} but keep their DSCPs: the next "
        "switch receives DLCP's DSCPs",
        group.group.remark_dscp);
  }
  return {};
}

}  // namespace dlcp::fabric
