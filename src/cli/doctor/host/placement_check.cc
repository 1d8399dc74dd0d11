#include "cli/doctor/host/placement_check.h"

#include <fmt/format.h>

#include <string>

#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "datapath/verbs/verbs_options.h"

namespace dlcp::cli {
namespace {

// The address for the test, which sends to the port itself.
std::vector<datapath::RocePort> with_address(const datapath::RocePort& port) {
  auto chosen = datapath::choose_roce_ports("=" + port.device, -1, {port});
  return chosen ? std::move(chosen).value() : std::vector<datapath::RocePort>();
}

Finding check_port(const datapath::RocePort& port) {
  const std::string name = to_string(port);
  const auto tested = datapath::test_placement(port);
  if (!tested) {
    return {"rdma placement", Level::kWarn,
            fmt::format("{} was not tested: {}", name, tested.error().what), tested.error().hint};
  }
  const datapath::PlacementAbility& ability = tested.value();
  std::string value = fmt::format("{} can place data: {}", name, to_string(ability));
  if (!ability.places()) value = name + " cannot place data";
  const auto us = [](Duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  if (ability.permit_time > Duration::zero())
    value += fmt::format(" ({:.0f} us to give and revoke a permission{})", us(ability.permit_time),
                         ability.region_time > Duration::zero()
                             ? fmt::format(", {:.0f} us by a region", us(ability.region_time))
                             : "");
  if (!ability.reason.empty()) value += "; " + ability.reason;
  return {"rdma placement", Level::kOk, value + "; jobs use it with DLCP_ROCE_PLACEMENT=auto or on",
          ""};
}

}  // namespace

Findings check_placement() {
  Findings findings;
  if (!datapath::check_verbs()) return findings;  // reported by check_rdma()
  for (const datapath::RocePort& port : datapath::list_roce_ports()) {
    if (!datapath::why_unusable(port, -1).empty()) continue;
    for (const datapath::RocePort& chosen : with_address(port))
      findings.push_back(check_port(chosen));
  }
  return findings;
}

}  // namespace dlcp::cli
