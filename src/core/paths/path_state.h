// The state of one path of a sending association, for display.
#pragma once

#include <cstdint>

#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

struct PathState {
  std::uint64_t association = 0;  // token
  wire::EndpointAddress peer;
  wire::PathIndex path = 0;
  std::uint32_t sent = 0;  // packets; wraps
  double loss = 0;         // smoothed share of packets lost
  Duration delay{0};       // RTT, smoothed; 0: not known
  bool avoided = false;    // the path lost what was sent on it
};

}  // namespace dlcp::core
