// How fast all associations of one endpoint send together. A burst may last as long as the endpoint
// needs for it, not as long as its own association does: the queue that it makes is the same, and
// with many peers each association has a small share of the rate.
#pragma once

#include <algorithm>

namespace dlcp::core {

class EndpointRate {
 public:
  // Bytes per second, of all that send.
  double total() const { return total_; }
  // Replaces what an association sent before by what it sends now; 0: it is idle.
  void update(double& before, double now) {
    total_ = std::max(total_ + now - before, now);
    before = now;
  }

 private:
  double total_ = 0;
};

}  // namespace dlcp::core
