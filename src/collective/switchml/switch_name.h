// A switch as it is named in settings: HOST[:PORT][/SLOTS].
#pragma once

#include <cstdint>
#include <string>

#include "collective/switchml/switch_packet.h"
#include "util/result.h"

namespace dlcp::collective {

struct SwitchName {
  std::string host;
  std::uint16_t port = kSwitchPortBase;  // of rank 0; the other ranks use the ports after it
  unsigned slots = kSwitchSlotsUsual;    // 2 to the number of slots that the switch has
};

// Errors describe the text; the caller adds the name of the setting.
Result<SwitchName> switch_name(const std::string& text);

}  // namespace dlcp::collective
