// A device of this rank's that a group uses: on which lanes it listens there.
#pragma once

#include <vector>

#include "engine/port.h"

namespace dlcp::engine {

struct GroupRail {
  Port port;                                // all lanes of the device
  Port listening;                           // those that the listeners are on
  std::vector<core::ListenerId> listeners;  // one on each lane of `listening`
};

}  // namespace dlcp::engine
