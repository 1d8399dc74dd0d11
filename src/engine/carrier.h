// The ways in which packets can go between two hosts. A new way is a folder under src/datapath, a
// file beside this one that opens it (udp_access) and a word in the table of carriers; the rest of
// the engine, and the plugin, know no more of it than its row says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datapath/device_address.h"
#include "datapath/marks.h"
#include "engine/device.h"
#include "util/result.h"

namespace dlcp::engine {

struct Carrier {
  std::string_view name;    // in messages
  std::string_view needs;   // what firewalls and switches have to pass
  std::uint64_t lane_mbps;  // what one lane, so one core, carries
  // Of a device's address the part that is meant for it.
  datapath::LocatorKind locator;
};

extern const Carrier kRoce;
extern const Carrier kUdp;

// The best first: two ranks use the first that both have.
std::span<const Carrier* const> carriers();

// The byte that packets of each class are marked with.
datapath::ClassMarks marks_of(const Settings& settings);

// How many lanes a device gets: the settings' number, or as many as its speed asks for where
// processors abound. `processors`: that this process may use.
std::size_t lane_count(const Device& device, const Carrier& over, const Settings& settings,
                       std::size_t processors);

// What is open by that access, with the core's configuration, and with the faults that the settings
// ask for.
Result<OpenedDevice> open_device(const Access& access, const Settings& settings);

}  // namespace dlcp::engine
