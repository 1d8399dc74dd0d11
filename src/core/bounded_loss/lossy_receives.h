// The receiver's side of bounded loss. It handles messages whose sender does not retransmit unasked
// (SENT_ONCE has arrived, or a licence was posted). It knows on which paths packets may still be in
// flight, asks the ledger if none is left, and sends the decision: STOP or NEED. recv_queue holds
// the contents of messages and the places of zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "core/bounded_loss/loss_ledger.h"
#include "core/bounded_loss/path_seen.h"
#include "core/channel/frame_writer.h"
#include "core/counters.h"
#include "core/streams/recv_queue.h"
#include "wire/frames/loss_frame.h"

namespace dlcp::core {

// A decision about a message with holes, which is sent to the sender.
struct LossDecision {
  bool stop = false;         // true: the message is complete with its holes; false: they are needed
  std::uint64_t number = 0;  // of the message
  std::uint32_t lost_bytes = 0;
  std::uint32_t echo = 0;  // echo and path of the SENT_ONCE that NEED answers
  wire::PathIndex path = 0;
  std::uint32_t needs_before = 0;  // NEED frames that the message has had before this one
  std::vector<wire::Hole> holes;
};

class LossyReceives {
 public:
  LossyReceives(RecvQueue& queue, Counters& counters) : queue_(queue), counters_(counters) {}

  // The receive of message `number` is posted, with a buffer of `buffer_bytes`.
  void on_posted(std::uint64_t number, const Licence& licence, std::size_t buffer_bytes);
  // False if the frame is impossible.
  bool on_sent_once(const wire::SentOnce& frame);
  // Its loss is granted: it only waits for the end of its permissions.
  bool is_granted(std::uint64_t number) const;
  // SENT_ONCE has arrived for a message that is not complete.
  bool awaits() const { return announced_ > 0; }
  // Decides about every message that has holes and expects no more packets. If its licence allows
  // the loss and it has at least `licence_bytes_min`, the holes become placements of zeros and the
  // message is complete; otherwise the missing data is needed.
  void decide(std::span<const PathSeen> paths, std::size_t licence_bytes_min,
              std::vector<Placement>& placements);

  // The next decision that may be sent. STOP is not sent before the zeros are in place.
  std::optional<LossDecision> pop_decision();
  struct Way {
    wire::PathIndex path = 0;     // of STOP, and of the first NEED of each message
    std::size_t paths = 1;        // a repeated NEED takes all of these in turn
    std::size_t frame_bytes = 0;  // the most in one frame
  };
  // Sends decisions; returns the number of frames.
  std::size_t poll_transmit(const Recipient& to, const Way& way, FrameWriter& frames,
                            std::span<wire::TxPacket> out);

 private:
  struct Message {
    std::uint64_t number = 0;
    Licence licence;          // the receiver's; without a licence everything is needed
    bool announced = false;   // SENT_ONCE has arrived
    bool needed = false;      // NEED was sent since the last SENT_ONCE
    std::uint32_t needs = 0;  // NEED frames so far; above 0: exact, its holes were over budget
    bool granted = false;     // the ledger has granted the loss; permissions are being revoked
    bool urgent = false;
    std::vector<wire::PathMark> marks;  // paths that packets may still arrive on
    std::uint32_t echo = 0;             // echo and path of the newest SENT_ONCE
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
  std::size_t announced_ = 0;      // number of announced messages
  std::vector<LossDecision> decisions_;
};

}  // namespace dlcp::core
