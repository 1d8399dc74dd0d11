#include "engine/devices/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "datapath/verbs/verbs_options.h"
#include "engine/devices/carrier.h"
#include "engine/devices/roce/roce_access.h"
#include "engine/devices/roce/roce_choice.h"
#include "engine/devices/udp_access.h"

namespace dlcp::engine {
namespace {

// With `auto`, also over the port's interface, for peers without RoCE.
Device device_of(datapath::RocePort port, const Settings& settings) {
  Device device;
  device.name = port.device;
  device.ip = port.gid.ip;
  device.properties = datapath::read_properties(port.gid.netdev);
  device.properties.pci_path = port.pci_path;
  device.properties.guid = port.node_guid;
  device.properties.port = port.port;
  device.properties.speed_mbps = port.speed_mbps;
  if (settings.datapath == DatapathChoice::kAuto) {
    datapath::Interface from = device;
    from.name = port.gid.netdev;
    from.ip.scope = 0;
    device.accesses.push_back(udp_access(std::move(from)));
  }
  device.accesses.push_back(roce_access(std::move(port), settings));
  return device;
}

std::vector<Device> devices_of(std::vector<datapath::RocePort> ports, const Settings& settings) {
  std::vector<Device> devices;
  for (datapath::RocePort& port : ports)
    devices.push_back(device_of(std::move(port), settings));
  return devices;
}

Result<std::vector<Device>> roce_devices(const Settings& settings) {
  const auto interfaces = datapath::list_interfaces(std::nullopt);
  if (!interfaces) return interfaces.error();
  auto ports = ports_on_request(settings, datapath::list_roce_ports(), interfaces.value());
  if (!ports) return ports.error();
  return devices_of(std::move(ports).value(), settings);
}

// Devices on which RoCE can be used without an explicit request; having none is not an error.
std::vector<Device> roce_devices_if_any(const Settings& settings) {
  auto existing = datapath::list_roce_ports();
  if (existing.empty()) return {};
  const auto interfaces = datapath::list_interfaces(std::nullopt);
  if (!interfaces) return {};
  auto ports = ports_without_request(settings, std::move(existing), interfaces.value());
  // The library is loaded only if there is a use for it.
  if (ports.empty() || !datapath::check_verbs()) return {};
  return devices_of(std::move(ports), settings);
}

bool any_uses_roce(const std::vector<Device>& devices) {
  return std::ranges::any_of(
      devices, [](const Device& each) { return each.over(kRoce) != nullptr; });
}

}  // namespace

const Access* Device::over(const Carrier& carrier) const {
  const auto found = std::ranges::find_if(
      accesses, [&](const auto& access) { return &access->over() == &carrier; });
  return found == accesses.end() ? nullptr : found->get();
}

bool Device::is_udp_alone() const {
  return accesses.size() == 1 && over(kUdp) != nullptr;
}

datapath::GpuAccess gpu_access(const std::vector<Device>& devices, std::size_t index,
                               const Settings& settings) {
  const auto preferred = [](const Device& device) -> const Access* {
    for (const Carrier* carrier : carriers())
      if (const Access* access = device.over(*carrier)) return access;
    return nullptr;
  };
  for (const Device& device : devices)
    if (const Access* access = preferred(device)) access->begin_gpu_access(settings);
  const Access* const access = preferred(devices[index]);
  return access != nullptr ? access->gpu_access(settings) : datapath::GpuAccess{};
}

Result<std::vector<Device>> choose_devices(const Settings& settings) {
  if (settings.datapath == DatapathChoice::kVerbs) return roce_devices(settings);
  std::vector<Device> devices;
  if (settings.datapath == DatapathChoice::kAuto) {
    devices = roce_devices_if_any(settings);
    if (!devices.empty()) return devices;
  }
  auto interfaces = datapath::own_interfaces(settings.interfaces, settings.family);
  if (!interfaces) return interfaces.error();
  for (const datapath::Interface& interface : interfaces.value())
    devices.push_back({interface, {udp_access(interface)}});
  return devices;
}

std::vector<LogLine> unused_settings(const Settings& settings, const std::vector<Device>& devices,
                                     std::size_t lanes_most) {
  std::vector<LogLine> lines;
  if (auto unused = unused_hcas(settings, devices); unused) lines.push_back(std::move(*unused));
  const auto add = [&](std::string_view knob, const char* why) {
    const auto set = std::ranges::find(settings.effective, knob, &Settings::Effective::name);
    lines.push_back(
        {LogLevel::kWarn, fmt::format("{}={} has no effect: {}", knob, set->value, why)});
  };
  if (!any_uses_roce(devices)) {
    if (settings.gid_index != -1 && is_asked_for(settings, "DLCP_GID_INDEX"))
      add("DLCP_GID_INDEX", "no device uses RoCE; see `dlcp doctor`");
    if (settings.placement == PlacementChoice::kOn || settings.placement == PlacementChoice::kRc)
      add("DLCP_ROCE_PLACEMENT", "no device uses RoCE; see `dlcp doctor`");
  }
  if (settings.bundle && lanes_most < 2)
    add("DLCP_BUNDLE", "each device has one lane; set DLCP_LANES to 2 or more on all ranks");
  return lines;
}

std::optional<LogLine> unused_hcas(const Settings& settings, const std::vector<Device>& devices) {
  if (settings.datapath != DatapathChoice::kAuto || settings.hcas.empty() || any_uses_roce(devices))
    return std::nullopt;
  return unused_selection(settings, datapath::list_roce_ports());
}

}  // namespace dlcp::engine
