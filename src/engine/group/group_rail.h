// A device of this rank that a group uses, and the lanes on which it listens.
#pragma once

#include <vector>

#include "engine/devices/port.h"

namespace dlcp::engine {

struct GroupRail {
  Port port;                                // all lanes of the device
  Port listening;                           // those that the listeners are on
  std::vector<core::ListenerId> listeners;  // one on each lane of `listening`
};

}  // namespace dlcp::engine
