// From settings to devices, and from a device to something an engine can run on: opens sockets or
// RDMA queues, wraps them in faults if asked to, and tells the core what was granted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "datapath/datapath.h"
#include "datapath/udp/interfaces.h"
#include "datapath/udp/udp_counters.h"
#include "datapath/verbs/roce_ports.h"
#include "datapath/verbs/verbs_counters.h"
#include "engine/settings.h"
#include "util/result.h"

namespace dlcp::engine {

// What NCCL is offered: an interface, or an RDMA port under its own name.
struct Device : datapath::Interface {
  std::optional<datapath::RocePort> roce;
  bool udp = true;  // over the interface, for peers that have no RoCE
};

enum class Carrier : std::uint8_t { kRoce, kUdp };

Result<std::vector<Device>> choose_devices(const Settings& settings);

struct OpenedDevice {
  std::unique_ptr<datapath::Datapath> datapath;
  const datapath::UdpCounters* udp = nullptr;  // live as long as the datapath; null: has none
  const datapath::VerbsCounters* verbs = nullptr;
  core::Config config;
  std::string description;  // for the log
};

// `over`: one of those that the device has.
Result<OpenedDevice> open_device(const Device& device, Carrier over, const Settings& settings);

}  // namespace dlcp::engine
