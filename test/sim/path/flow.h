// A transport at both ends of a SharedPath.
#pragma once

#include "shared_path.h"

namespace dlcp::test {

class PathFlow {
 public:
  virtual ~PathFlow() = default;
  virtual void start() = 0;  // at the current time
  virtual void on_timer() = 0;
  virtual void on_frame(const PathFrame& frame) = 0;  // at either end
  // One of its data frames was dropped; it would have arrived at `would_arrive`.
  virtual void on_dropped(const PathFrame& frame, Time would_arrive) = 0;
  virtual double delivered_bytes() = 0;  // payload, so far
  virtual double window() = 0;           // packets
};

}  // namespace dlcp::test
