// How one path of one sending association does, for people to look at.
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
  double loss = 0;         // smoothed share of them
  Duration delay{0};       // there and back, smoothed; 0: not known
  bool avoided = false;    // it swallowed what it was given
};

}  // namespace dlcp::core
