#include "engine/device.h"

#include <algorithm>
#include <utility>

#include "datapath/name_selection.h"
#include "datapath/verbs/verbs_options.h"

namespace dlcp::engine {
namespace {

Device device_of(datapath::RocePort port) {
  Device device;
  device.name = port.device;
  device.ip = port.gid.ip;
  device.properties = datapath::read_properties(port.gid.netdev);
  device.properties.pci_path = port.pci_path;
  device.properties.guid = port.node_guid;
  device.properties.port = port.port;
  device.properties.speed_mbps = port.speed_mbps;
  device.roce = std::move(port);
  return device;
}

// What the user asked for by this name, not NCCL's stand-in for it: that is about NCCL's sockets.
bool is_asked_for(const Settings& settings, std::string_view knob) {
  const auto set = std::ranges::find(settings.effective, knob, &Settings::Effective::name);
  return set != settings.effective.end() && !set->value.empty() && set->origin != "default" &&
         !set->origin.starts_with("NCCL_");
}

Result<std::vector<Device>> roce_devices(const Settings& settings) {
  auto ports =
      datapath::choose_roce_ports(settings.hcas, settings.gid_index, datapath::list_roce_ports());
  if (!ports) return ports.error();
  std::vector<Device> devices;
  for (datapath::RocePort& port : ports.value()) {
    devices.push_back(device_of(std::move(port)));
    devices.back().udp = settings.datapath == DatapathChoice::kAuto;
  }
  return devices;
}

// Those that RoCE can be used on without being asked for; none is no error.
std::vector<Device> roce_devices_if_any(const Settings& settings) {
  auto found = roce_devices(settings);
  if (!found || !datapath::check_verbs())  // the library is loaded only if there is a use for it
    return {};
  std::vector<Device> devices = std::move(found).value();
  if (is_asked_for(settings, "DLCP_IFNAME")) {
    const datapath::NameSelection wanted(settings.interfaces);
    std::erase_if(devices,
                  [&](const Device& device) { return !wanted.selects(device.roce->gid.netdev); });
  }
  return devices;
}

}  // namespace

Result<std::vector<Device>> choose_devices(const Settings& settings) {
  if (settings.datapath == DatapathChoice::kVerbs) return roce_devices(settings);
  std::vector<Device> devices;
  if (settings.datapath == DatapathChoice::kAuto) {
    devices = roce_devices_if_any(settings);
    if (!devices.empty()) return devices;
  }
  auto existing = datapath::list_interfaces();
  if (!existing) return existing.error();
  auto interfaces = datapath::choose_interfaces(settings.interfaces, existing.value());
  if (!interfaces) return interfaces.error();
  for (datapath::Interface& interface : interfaces.value())
    devices.push_back({std::move(interface), std::nullopt});
  return devices;
}

}  // namespace dlcp::engine
