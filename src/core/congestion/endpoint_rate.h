// Totals of all associations of one endpoint: the rate at which they send, and the bytes that
// arrived (for compression/gate). The length of a burst is limited by the time that the endpoint
// needs for it at this rate, not by the rate of the burst's association: the queue that a burst
// causes is the same, and with many peers each association has a small share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dlcp::core {

class EndpointRate {
 public:
  // Bytes per second of all associations.
  double total() const { return total_; }
  // Replaces the rate that an association reported before by its present rate; 0: it is idle.
  void update(double& before, double now) {
    total_ = std::max(total_ + now - before, now);
    before = now;
  }
  // Bytes on the wire that peers have acknowledged; every packet counts as a whole one.
  void on_delivered(std::size_t bytes) { delivered_ += bytes; }
  std::uint64_t delivered() const { return delivered_; }

 private:
  double total_ = 0;
  std::uint64_t delivered_ = 0;
};

}  // namespace dlcp::core
