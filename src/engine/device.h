// From an interface and settings to something an engine can run on: opens the sockets, wraps them
// in faults if asked to, and tells the core what the kernel has granted.
#pragma once

#include <memory>
#include <string>

#include "core/config.h"
#include "datapath/datapath.h"
#include "datapath/udp/interfaces.h"
#include "datapath/udp/udp_counters.h"
#include "engine/settings.h"
#include "util/result.h"

namespace dlcp::engine {

struct OpenedDevice {
  std::unique_ptr<datapath::Datapath> datapath;
  const datapath::UdpCounters* udp = nullptr;  // lives as long as the datapath
  core::Config config;
  std::string description;  // for the log
};

Result<OpenedDevice> open_device(const datapath::Interface& interface, const Settings& settings);

// Whether packets can go between the two at all: both of one address family, each an address.
Status check_reachable(const wire::EndpointAddress& local, const wire::EndpointAddress& peer);

}  // namespace dlcp::engine
