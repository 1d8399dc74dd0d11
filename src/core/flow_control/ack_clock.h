// The times at which a receiver acknowledges: often enough that the sender is not held up and
// detects losses soon, seldom enough that acknowledgements cost little. Independent of their
// content.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

// When the sender needs a report that is not caused by the arrival of data.
enum class AckBy : std::uint8_t {
  kNow,   // it waits
  kSoon,  // it may wait
  // A receive was posted before any data of its message arrived: the sender can begin without the
  // report.
  kWithOthers,
};

class AckClock {
 public:
  // Data packets that were accepted together.
  struct Arrival {
    std::uint32_t packets = 1;
    std::uint32_t message_bytes = 0;
    bool copied = false;          // no caller of the sender waits for the ACK
    bool ends_message = false;    // one of them, by its offset, not by its time
    bool asked = false;           // the sender waits for an ACK
    bool nothing_posted = false;  // no posted receive waits for data
    std::uint32_t window = 1;     // packets that the sender may have in flight
  };
  void on_data(Time now, const Arrival& arrival);
  void on_report(Time now, AckBy by);
  void at_once(Time now) {
    due_ = now;
    hurries_ = true;
  }
  // Data has been sent to this peer, probably the application's answer. If an ACK of a whole long
  // message is waiting, it becomes due now. Returns whether it does.
  bool on_answer(Time now) {
    if (!ended_) return false;
    by(now);
    return true;
  }
  void cancel() {
    due_ = kNever;
    hurries_ = ended_ = false;
  }

  Time due() const { return due_; }
  bool hurries() const { return hurries_; }  // the sender waits for an ACK
  // An acknowledgement was sent. If it is not `complete`, the next one follows at once.
  void on_sent(Time now, bool complete);

 private:
  void by(Time when) { due_ = std::min(due_, when); }

  Time due_ = kNever;
  bool hurries_ = false;
  bool short_ = false;                 // the newest data is of a short copied message
  bool ended_ = false;                 // a long message, with the newest data
  std::uint32_t packets_ = 0;          // since the last acknowledgement
  std::uint32_t packets_of_last_ = 0;  // reported by the last acknowledgement
};

}  // namespace dlcp::core
