// Chooses the RoCE ports that become devices.
#pragma once

#include <optional>
#include <vector>

#include "datapath/udp/interfaces/interfaces.h"
#include "datapath/verbs/device/roce_ports.h"
#include "engine/host/log.h"
#include "engine/settings/settings.h"
#include "util/result.h"

namespace dlcp::engine {

// With DLCP_DATAPATH=verbs. `interfaces` are those of this network namespace; a port whose
// addresses they lack is used only if there is no other.
Result<std::vector<datapath::RocePort>> ports_on_request(
    const Settings& settings, const std::vector<datapath::RocePort>& existing,
    const std::vector<datapath::InterfaceAddress>& interfaces);

// With DLCP_DATAPATH=auto: the ports that this process can use, or none. A port with only a
// link-local address, like every connected port that is not configured, does not replace an
// interface or another port with a global address, unless DLCP_HCA selects it.
std::vector<datapath::RocePort> ports_without_request(
    const Settings& settings, std::vector<datapath::RocePort> existing,
    const std::vector<datapath::InterfaceAddress>& interfaces);

// With DLCP_DATAPATH=auto, if no RoCE port is used: the log line for a user who has named some;
// nullopt if none were named.
std::optional<LogLine> unused_selection(const Settings& settings,
                                        const std::vector<datapath::RocePort>& existing);

}  // namespace dlcp::engine
