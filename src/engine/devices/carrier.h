// The carriers of packets between two hosts. A new carrier is a folder under src/datapath, a file
// like udp_access that opens it, and an entry in the table of carriers. The rest of the engine and
// the plugin use only its row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datapath/address/device_address.h"
#include "datapath/faulty/fault_spec.h"
#include "datapath/marks.h"
#include "engine/devices/device.h"
#include "util/result.h"

namespace dlcp::engine {

struct Carrier {
  std::string_view name;    // in messages
  std::string_view needs;   // what firewalls and switches must let through
  std::uint64_t lane_mbps;  // capacity of one lane, which uses one core
  // The locators of a device's address that belong to this carrier.
  datapath::LocatorKind locator;
};

extern const Carrier kRoce;
extern const Carrier kUdp;

// In order of preference: two ranks use the first carrier that both have.
std::span<const Carrier* const> carriers();

// The byte that marks packets of each class.
datapath::ClassMarks marks_of(const Settings& settings);

// Number of lanes of a device: the setting, or by default as many as its speed requires if there
// are enough processors. `processors`: number that this process may use.
std::size_t lane_count(const Device& device, const Carrier& over, const Settings& settings,
                       std::size_t processors);

// The faults that the settings inject (DLCP_FAULT). kInvalidUsage if the setting is wrong, or if
// other settings do not detect what it damages.
Result<datapath::FaultSpec> read_faults(const Settings& settings);

// Opens the device by that access, with the core's configuration and with the faults that the
// settings inject.
Result<OpenedDevice> open_device(const Access& access, const Settings& settings);

}  // namespace dlcp::engine
