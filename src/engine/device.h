// The devices that settings and the system offer, and what is open of one: something an engine can
// run on, and what the core is told of it. carrier.h opens them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "datapath/datapath.h"
#include "datapath/udp/interfaces.h"
#include "datapath/verbs/roce_ports.h"
#include "engine/settings.h"
#include "util/result.h"

namespace dlcp::engine {

// What NCCL is offered: an interface, or an RDMA port under its own name.
struct Device : datapath::Interface {
  std::optional<datapath::RocePort> roce;
  bool udp = true;  // over the interface, for peers that have no RoCE
};

Result<std::vector<Device>> choose_devices(const Settings& settings);

struct OpenedDevice {
  std::unique_ptr<datapath::Datapath> datapath;
  core::Config config;
  std::string description;  // for the log
};

}  // namespace dlcp::engine
