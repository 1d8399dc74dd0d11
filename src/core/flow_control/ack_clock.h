// When a receiver acknowledges: often enough that the sender is never held up and learns of losses
// soon, seldom enough that acknowledgements cost little. Knows nothing of what they say.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

class AckClock {
 public:
  // A data packet that counted.
  struct Arrival {
    std::uint32_t message_bytes = 0;
    bool ends_message = false;    // by its place, not by its time
    bool asked = false;           // the sender waits for it
    bool nothing_posted = false;  // no receive is left that waits for data
    std::uint32_t window = 1;     // packets that the sender may have in flight
  };
  void on_data(Time now, const Arrival& arrival);
  // A receive was posted: the sender may wait to hear of it.
  void on_posted(Time now);
  void at_once(Time now) { due_ = now; }
  void cancel() { due_ = kNever; }

  Time due() const { return due_; }
  // An acknowledgement went out; `complete` if it said all there is to say, else the next follows.
  void on_sent(Time now, bool complete);

 private:
  void by(Time when) { due_ = std::min(due_, when); }

  Time due_ = kNever;
  Time last_ended_ = kNever;  // the last message, with no receive posted for another
  int returns_ = 0;  // of the application, at once, after the last of its receives; in a row
  std::uint32_t packets_ = 0;          // since the last acknowledgement
  std::uint32_t packets_of_last_ = 0;  // that it told of
};

}  // namespace dlcp::core
