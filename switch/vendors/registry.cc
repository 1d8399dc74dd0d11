// The targets that are built in. A new vendor adds its factory to the list.
#include <algorithm>
#include <memory>
#include <vector>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric {
namespace {

std::vector<std::unique_ptr<const Vendor>> make_all() {
  std::vector<std::unique_ptr<const Vendor>> vendors;
  vendors.push_back(make_cumulus());
  vendors.push_back(make_eos());
  vendors.push_back(make_sonic());
  vendors.push_back(make_tc());
  return vendors;
}

}  // namespace

const Vendor* find_vendor(std::string_view os) {
  static const auto kVendors = make_all();
  const auto found = std::find_if(kVendors.begin(), kVendors.end(),
                                  [os](const auto& vendor) { return vendor->os() == os; });
  return found == kVendors.end() ? nullptr : found->get();
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

}  // namespace dlcp::fabric
