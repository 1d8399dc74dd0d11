// The receiver's side of bounded loss: of messages that their sender will not repair unasked
// (SENT_ONCE has come, or a licence was posted) it knows where packets may still be on their way,
// asks the ledger once nothing is, and owns what is then told: STOP or NEED. What is there of a
// message, and where zeros go, is recv_queue's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "core/bounded_loss/loss_ledger.h"
#include "core/bounded_loss/path_seen.h"
#include "core/channel/frame_arena.h"
#include "core/counters.h"
#include "core/streams/recv_queue.h"
#include "wire/loss_frame.h"

namespace dlcp::core {

// What was decided about a message with holes; the sender is told.
struct LossDecision {
  bool stop = false;         // complete without them; else they are needed
  std::uint64_t number = 0;  // of the message
  std::uint32_t lost_packets = 0;
  std::uint32_t lost_bytes = 0;
  std::uint32_t echo = 0;  // of the SENT_ONCE that NEED answers, and its path
  wire::PathIndex path = 0;
  std::vector<wire::Hole> holes;
};

class LossyReceives {
 public:
  LossyReceives(RecvQueue& queue, Counters& counters) : queue_(queue), counters_(counters) {}

  // The receive of message `number` is posted, with a buffer of so many bytes.
  void on_posted(std::uint64_t number, const Licence& licence, std::size_t buffer_bytes);
  // False when the frame cannot be right.
  bool on_sent_once(const wire::SentOnce& frame);
  // SENT_ONCE has come for a message that is not complete.
  bool awaits() const { return announced_ > 0; }
  // Decides about every message that has holes and expects no more packets: within its licence, and
  // if it has at least `licence_bytes_min`, the holes become placements of zeros and the message is
  // done, else they are needed.
  void decide(std::span<const PathSeen> paths, std::size_t licence_bytes_min,
              std::vector<Placement>& placements);

  // One that may be told: without holes nobody hears before its zeros lie there.
  std::optional<LossDecision> pop_decision();
  // Tells what was decided, on the path on which the sender hears us and in frames of at most
  // `frame_bytes`; returns how many.
  std::size_t poll_transmit(const Recipient& to, wire::PathIndex path, std::size_t frame_bytes,
                            FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  struct Message {
    std::uint64_t number = 0;
    Licence licence;          // ours; without one everything is needed
    bool announced = false;   // SENT_ONCE has come
    bool needed = false;      // the sender was asked for the rest since the last one
    bool was_needed = false;  // holes were over budget: exact from then on
    bool urgent = false;
    std::vector<wire::PathMark> marks;  // paths that packets may still come on
    std::uint32_t echo = 0;             // of the newest SENT_ONCE, and its path
    wire::PathIndex path = 0;

    void on_sent_once(const wire::SentOnce& frame);
    bool quiet(std::span<const PathSeen> paths);
  };
  Message& message(std::uint64_t number);
  void forget_done();
  void decide(Message& message, std::size_t licence_bytes_min, std::vector<Placement>& placements);

  RecvQueue& queue_;
  Counters& counters_;
  LossLedger ledger_;
  std::vector<Message> messages_;  // ascending
  std::size_t announced_ = 0;      // of them
  std::vector<LossDecision> decisions_;
};

}  // namespace dlcp::core
