// The timers of a connection, by name. Nothing is armed or cancelled here: each object of a
// connection has its own deadline, and Deadlines is the list of them at one moment.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

enum class Timer : std::uint8_t {
  kHandshake,  // sends HELLO or START again
  kPeer,       // the peer counts as dead
  kProbe,      // probes the peer
  kLoss,       // a packet counts as lost
  kSentOnce,   // sends SENT_ONCE again
  kPace,       // the next burst may leave
  kAck,        // sends an acknowledgement
  kCount
};

class Deadlines {
 public:
  Deadlines() { at_.fill(kNever); }

  void set(Timer timer, Time at) { at_[static_cast<std::size_t>(timer)] = at; }
  Time at(Timer timer) const { return at_[static_cast<std::size_t>(timer)]; }
  bool due(Timer timer, Time now) const { return at(timer) <= now; }
  // kNever: no timer is armed.
  Time next() const { return *std::min_element(at_.begin(), at_.end()); }

 private:
  std::array<Time, static_cast<std::size_t>(Timer::kCount)> at_;
};

}  // namespace dlcp::core
