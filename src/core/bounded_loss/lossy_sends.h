// The sender's side of bounded loss: of licensed messages that may still end with holes it knows on
// which paths each was sent, and when to say SENT_ONCE. First behind the message's last packet; if
// nothing licensed follows, or the receiver's answer still leaves something open, behind its last
// packets on all its paths, and so again at every probe time, until STOP, NEED or the
// acknowledgement of everything. It keeps the copy of the receiver's ledger that STOP makes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bounded_loss/loss_ledger.h"
#include "core/channel/frame_arena.h"
#include "core/counters.h"
#include "core/streams/send_queue.h"
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

  // A licensed message of so many bytes was posted.
  void open(const Licence& licence, std::size_t bytes) { ledger_.open(licence, bytes); }
  // STOP: the receiver goes without what is missing of the message.
  struct Stopped {
    std::uint32_t in_flight = 0;  // packets that counted as in flight; of them
    std::uint32_t acked = 0;      //   those that arrived
    std::uint32_t forgone = 0;    //   those that were lost, which shows now
    bool progress = false;        // the message was not done before
  };
  Stopped on_stop(SendQueue& queue, std::uint64_t message, const wire::Stop& stop,
                  std::uint32_t payload_bytes, Counters& counters);
  // Messages that have lost more than the budget has left for them are repaired from now on.
  void need_beyond_budget(SendQueue& queue) const { queue.need_beyond(ledger_); }
  // The share of its packets that the connection may lose under its newest licence.
  double hop_share() const { return ledger_.hop_share(); }

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

  // The next SENT_ONCE to be sent.
  struct Due {
    std::uint64_t message = 0;
    wire::PathIndex path = 0;
    const std::vector<wire::PathMark>* marks = nullptr;
  };
  bool due() const { return due_ > 0; }
  std::optional<Due> pop_due(Time now);
  // Says what is due, as far as there is room; returns how many frames.
  std::size_t poll_transmit(Time now, const SendQueue& queue, const Recipient& to,
                            FrameWriter& frames, std::span<wire::TxPacket> out);

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

  LossLedger ledger_;
  RingQueue<Message> messages_;  // ascending
  std::size_t due_ = 0;          // sum of to_say
};

}  // namespace dlcp::core
