// A switch as settings name it: HOST[:PORT][/SLOTS].
#pragma once

#include <cstdint>
#include <string>

#include "collective/switch_packet.h"
#include "util/result.h"

namespace dlcp::collective {

struct SwitchName {
  std::string host;
  std::uint16_t port = kSwitchPortBase;  // of rank 0; the others' are the next ones
  unsigned slots = kSwitchSlotsUsual;    // at most those that it has; 2 or more
};

// Errors say what is wrong with the text; whoever has it says which setting it is.
Result<SwitchName> switch_name(const std::string& text);

}  // namespace dlcp::collective
