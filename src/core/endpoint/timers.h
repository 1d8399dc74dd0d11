// What a connection waits for, by name. Nothing is armed or cancelled here: each object that a
// connection is made of knows its own deadline, and this is the list of them at one moment.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

enum class Timer : std::uint8_t {
  kHandshake,  // HELLO or START is said again
  kPeer,       // the peer is given up
  kProbe,      // the peer is asked whether it is there
  kLoss,       // a packet counts as lost
  kSentOnce,   // SENT_ONCE is said again
  kPace,       // the next burst may leave
  kAck,        // an acknowledgement is due
  kCount
};

class Deadlines {
 public:
  Deadlines() { at_.fill(kNever); }

  void set(Timer timer, Time at) { at_[static_cast<std::size_t>(timer)] = at; }
  Time at(Timer timer) const { return at_[static_cast<std::size_t>(timer)]; }
  bool due(Timer timer, Time now) const { return at(timer) <= now; }
  // kNever: nothing is waited for.
  Time next() const { return *std::min_element(at_.begin(), at_.end()); }

 private:
  std::array<Time, static_cast<std::size_t>(Timer::kCount)> at_;
};

}  // namespace dlcp::core
