// The licensed messages of a sender that may still be settled with holes: on which paths each was
// sent, and when to say SENT_ONCE. First behind the message's last packet; if nothing licensed
// follows, or the receiver's answer still leaves something open, behind its last packets on all its
// paths, and so again at every probe time, until STOP, NEED or the acknowledgement of everything.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/send_queue.h"
#include "util/ring_queue.h"
#include "util/time.h"
#include "wire/loss_frame.h"

namespace dlcp::core {

class LossySends {
 public:
  // Whether one frame can name so many paths; else messages are sent as exact ones. A frame without
  // marks is smaller than what a data packet has besides its payload.
  static bool can_name(std::size_t paths, std::size_t payload_bytes) {
    return paths <= 200 && paths * 5 <= payload_bytes;
  }

  // A packet of a licensed message left for the first time.
  void on_sent(Time now, std::uint64_t message, wire::PathMark mark, LicensedEnd ends);
  // After the queue has learned something: forgets what is settled, and plans to say it again where
  // more than a round trip has passed since: an answer should have come.
  void refresh(Time now, Duration round_trip, const SendQueue& queue);
  // Nothing is heard: say it again for every message.
  void on_silence();
  // What was said two round trips ago, or twice as long as the last time, is said again.
  void on_timeout(Time now, Duration round_trip);
  Time next_timeout(Duration round_trip) const;

  // The next SENT_ONCE to be sent, with destination, message_bytes and echo still to be filled in.
  struct Due {
    std::uint64_t message = 0;
    std::uint8_t path = 0;
    const std::vector<wire::PathMark>* marks = nullptr;
  };
  bool due() const { return due_ > 0; }
  std::optional<Due> pop_due(Time now);

 private:
  struct Message {
    std::uint64_t number = 0;
    bool all_sent = false;
    std::vector<wire::PathMark> marks;
    std::size_t to_say = 0;  // on the last so many of the marks' paths
    Time said_at{};
    unsigned repeats = 0;  // because time had passed
    Time again_at(Duration round_trip) const;
  };
  void say_on_all(Message& message);

  RingQueue<Message> messages_;  // ascending
  std::size_t due_ = 0;          // sum of to_say
};

}  // namespace dlcp::core
