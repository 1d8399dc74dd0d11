// When a broken RC queue pair is replaced by a new one: at once if it has carried packets before.
// Otherwise its path probably loses everything, and the pause doubles with each queue pair in a row
// that has carried none. Each attempt costs the packets that are placed on it: they wait until the
// card gives up.
#pragma once

#include <algorithm>
#include <optional>

#include "util/time.h"

namespace dlcp::datapath {

class RenewalPause {
 public:
  static constexpr Duration kLeast = std::chrono::milliseconds(100);
  static constexpr Duration kMost = 64 * kLeast;

  // The queue pair has carried a packet.
  void on_success() { has_worked_ = true; }
  // The queue pair is broken. The pause begins with the first of these calls.
  bool is_over(Time now) {
    if (!until_) {
      pause_ = has_worked_ ? Duration::zero() : std::clamp(2 * pause_, kLeast, kMost);
      until_ = now + pause_;
    }
    return now >= *until_;
  }
  void on_renewed() {
    has_worked_ = false;
    until_.reset();
  }

 private:
  bool has_worked_ = false;
  Duration pause_{0};
  std::optional<Time> until_;
};

}  // namespace dlcp::datapath
