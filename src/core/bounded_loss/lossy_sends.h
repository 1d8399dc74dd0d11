// The sender's side of bounded loss. For licensed messages that may still end with holes it records
// the paths that each was sent on, and when to send SENT_ONCE (README.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "core/channel/frame_writer.h"
#include "core/counters.h"
#include "core/streams/send_queue.h"
#include "util/memory/ring_queue.h"
#include "util/time.h"
#include "wire/frames/loss_frame.h"

namespace dlcp::core {

class LossySends {
 public:
  // Whether one frame can name this many paths; otherwise messages are sent as exact ones. Without
  // its marks the frame is smaller than the header of a data packet.
  static bool can_name(std::size_t paths, std::size_t payload_bytes) {
    return paths <= 200 && paths * 5 <= payload_bytes;
  }

  // A licensed message was posted.
  void open(const Licence& licence) { hop_share_ = licence.hop_share(); }
  // STOP: the receiver does without the missing data of the message.
  struct Stopped {
    // Packets that counted as in flight: those that arrived, and those that were lost.
    std::uint32_t acked = 0;
    std::uint32_t forgone = 0;
    bool progress = false;  // the message was not complete before
  };
  Stopped on_stop(SendQueue& queue, std::uint64_t message, const wire::Stop& stop,
                  std::uint32_t payload_bytes, Counters& counters);
  // The share of its packets that the connection may lose under its newest licence.
  double hop_share() const { return hop_share_; }

  // A packet of a licensed message was sent for the first time. `placed`: over a queue pair of the
  // card (core/placement), where a later SENT_ONCE may overtake it.
  void on_sent(Time now, std::uint64_t message, wire::PathMark mark, LicensedEnd ends,
               bool placed = false);
  struct Peer {
    Duration round_trip{};
    Time heard_at{};  // when its last frame arrived, of any kind
  };
  // Called after the queue has changed: removes settled messages. If an answer is overdue (one and
  // a half RTTs), SENT_ONCE is planned again. A message becomes exact if the peer is alive but does
  // not answer for it, because a path that SENT_ONCE names may be dead. Returns true if one did.
  bool refresh(Time now, const Peer& peer, SendQueue& queue);
  // A message was sent whole, and its receiver has not decided about its holes.
  bool awaits_answer() const;
  // The peer is silent: SENT_ONCE is planned again for every message, overdue or not. Returns the
  // same as refresh().
  bool on_silence(Time now, const Peer& peer, SendQueue& queue);

  bool due() const { return due_ > 0; }  // SENT_ONCE frames
  // Sends what is due, as far as there is room; returns the number of frames.
  std::size_t poll_transmit(Time now, const SendQueue& queue, const Recipient& to,
                            FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  struct Message {
    std::uint64_t number = 0;
    bool all_sent = false;
    bool any_placed = false;
    std::vector<wire::PathMark> marks;
    std::size_t to_say = 0;  // SENT_ONCE is due on the paths of this many marks, from the end
    Time sent_once_at{};
    Time all_sent_at{};
    bool said_on_all = false;
    unsigned unanswered = 0;  // rounds of SENT_ONCE on all paths, while the peer could answer
  };
  void say_on_all(Message& message);
  bool repeat(Time now, Message& message, const Peer& peer, SendQueue& queue);
  void settle(Message& message);
  void forget_settled(const SendQueue& queue);

  double hop_share_ = 0;
  RingQueue<Message> messages_;  // ascending
  std::size_t due_ = 0;          // sum of to_say
};

}  // namespace dlcp::core
