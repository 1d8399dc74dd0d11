#include "engine/devices/roce/roce_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "datapath/name_selection.h"

namespace dlcp::engine {
namespace {

constexpr const char* kHcaKnob = "DLCP_HCA";

// Drops the ports on interfaces that DLCP_IFNAME does not select.
void keep_selected(const Settings& settings, std::vector<datapath::RocePort>& ports) {
  if (!is_asked_for(settings, "DLCP_IFNAME")) return;
  const datapath::NameSelection wanted(settings.interfaces);
  std::erase_if(ports,
                [&](const datapath::RocePort& port) { return !wanted.selects(port.gid.netdev); });
}

bool is_global(const datapath::IpAddress& ip) {
  return !ip.is_link_scoped() && !ip.is_loopback();
}

bool offers_global_address(const std::vector<datapath::InterfaceAddress>& interfaces,
                           const Settings& settings) {
  const auto chosen = datapath::choose_interfaces(settings.interfaces, interfaces);
  return chosen && std::ranges::any_of(chosen.value(), is_global, &datapath::Interface::ip);
}

}  // namespace

Result<std::vector<datapath::RocePort>> ports_on_request(
    const Settings& settings, const std::vector<datapath::RocePort>& existing,
    const std::vector<datapath::InterfaceAddress>& interfaces) {
  std::vector<datapath::RocePort> local = existing;
  datapath::keep_local_gids(local, datapath::addresses_of(interfaces));
  auto ports = datapath::choose_roce_ports(settings.hcas, settings.gid_index, local);
  if (!ports) ports = datapath::choose_roce_ports(settings.hcas, settings.gid_index, existing);
  if (!ports) return ports;
  keep_selected(settings, ports.value());
  if (ports->empty()) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("no usable RoCEv2 port is on an interface of DLCP_IFNAME={}",
                             settings.interfaces),
                 "see the line `rdma` of `dlcp doctor`, or select ports by DLCP_HCA only"};
  }
  return ports;
}

std::vector<datapath::RocePort> ports_without_request(
    const Settings& settings, std::vector<datapath::RocePort> existing,
    const std::vector<datapath::InterfaceAddress>& interfaces) {
  datapath::keep_local_gids(existing, datapath::addresses_of(interfaces));
  auto ports = datapath::choose_roce_ports(settings.hcas, settings.gid_index, existing);
  if (!ports) return {};
  keep_selected(settings, ports.value());
  if (!settings.hcas.empty()) return std::move(ports).value();
  const auto has_global_address = [](const datapath::RocePort& port) {
    return is_global(port.gid.ip);
  };
  if (std::ranges::any_of(ports.value(), has_global_address) ||
      offers_global_address(interfaces, settings))
    std::erase_if(ports.value(), std::not_fn(has_global_address));
  return std::move(ports).value();
}

std::optional<LogLine> unused_selection(const Settings& settings,
                                        const std::vector<datapath::RocePort>& existing) {
  if (!datapath::NameSelection(settings.hcas).is_by_name()) return std::nullopt;
  const bool is_own = is_asked_for(settings, kHcaKnob);
  const auto ports = datapath::choose_roce_ports(settings.hcas, settings.gid_index, existing);
  return LogLine{
      is_own ? LogLevel::kWarn : LogLevel::kInfo,
      fmt::format("{}={} has no effect, and UDP is used: {}", is_own ? kHcaKnob : "NCCL_IB_HCA",
                  settings.hcas,
                  ports ? "its ports cannot be used here; run `dlcp doctor`" : ports.error().what)};
}

}  // namespace dlcp::engine
