#include "engine/devices/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datapath/name_selection.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/devices/carrier.h"
#include "engine/devices/roce/roce_access.h"
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

// True if the user set this knob itself, not NCCL's variable, which concerns NCCL's own sockets.
bool is_asked_for(const Settings& settings, std::string_view knob) {
  const auto set = std::ranges::find(settings.effective, knob, &Settings::Effective::name);
  return set != settings.effective.end() && !set->value.empty() && set->origin != "default" &&
         !set->origin.starts_with("NCCL_");
}

Result<std::vector<Device>> roce_devices(const Settings& settings) {
  auto ports =
      datapath::choose_roce_ports(settings.hcas, settings.gid_index, datapath::list_roce_ports());
  if (!ports) return ports.error();
  if (settings.datapath == DatapathChoice::kAuto && is_asked_for(settings, "DLCP_IFNAME")) {
    const datapath::NameSelection wanted(settings.interfaces);
    std::erase_if(ports.value(),
                  [&](const datapath::RocePort& port) { return !wanted.selects(port.gid.netdev); });
  }
  std::vector<Device> devices;
  for (datapath::RocePort& port : ports.value())
    devices.push_back(device_of(std::move(port), settings));
  return devices;
}

// Devices on which RoCE can be used without an explicit request; having none is not an error.
std::vector<Device> roce_devices_if_any(const Settings& settings) {
  auto found = roce_devices(settings);
  // The library is loaded only if there is a use for it.
  if (!found || found->empty() || !datapath::check_verbs()) return {};
  return std::move(found).value();
}

}  // namespace

const Access* Device::over(const Carrier& carrier) const {
  const auto found = std::ranges::find_if(
      accesses, [&](const auto& access) { return &access->over() == &carrier; });
  return found == accesses.end() ? nullptr : found->get();
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
  auto existing = datapath::list_interfaces(settings.family);
  if (!existing) return existing.error();
  if (existing->empty() && settings.family) {
    const bool v4 = settings.family == datapath::IpFamily::kV4;
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("no active interface has an {} address", v4 ? "IPv4" : "IPv6"),
                 "unset NCCL_SOCKET_FAMILY, or configure such an address"};
  }
  auto interfaces = datapath::choose_interfaces(settings.interfaces, existing.value());
  if (!interfaces) return interfaces.error();
  for (const datapath::Interface& interface : interfaces.value())
    devices.push_back({interface, {udp_access(interface)}});
  return devices;
}

}  // namespace dlcp::engine
