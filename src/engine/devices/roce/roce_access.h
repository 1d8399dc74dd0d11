// RoCEv2 over a port of an RDMA card, as a carrier.
#pragma once

#include <memory>

#include "datapath/verbs/device/roce_ports.h"
#include "engine/devices/carrier.h"

namespace dlcp::engine {

// The settings must be those that the device is used with.
std::shared_ptr<const Access> roce_access(datapath::RocePort port, const Settings& settings);

}  // namespace dlcp::engine
