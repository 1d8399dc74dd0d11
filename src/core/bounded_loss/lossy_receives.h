// The receiver's side of bounded loss. It handles messages whose sender does not retransmit unasked
// (SENT_ONCE has arrived, or a licence was posted). It knows on which paths packets may still be in
// flight, asks the ledger if none is left, and sends the decision: STOP or NEED. recv_queue holds
// the contents of messages and the places of zeros.
#pragma once

#include <cstdint>
#include <map>
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

class LossyReceives {
 public:
  LossyReceives(RecvQueue& queue, Counters& counters) : queue_(queue), counters_(counters) {}

  // The receive of message `number` is posted, with a buffer of `buffer_bytes`.
  void on_posted(std::uint64_t number, const Licence& licence, std::size_t buffer_bytes);
  // False if the frame is impossible.
  bool on_sent_once(const wire::SentOnce& frame);
  // Its loss is granted: it only waits for the end of its permissions.
  bool is_granted(std::uint64_t number) const;
  // SENT_ONCE has arrived for a message whose end the sender does not know yet.
  bool awaits() const;
  // Decides about every message that has holes and expects no more packets. If its licence allows
  // the loss and it has at least `licence_bytes_min`, the holes become placements of zeros and the
  // message is complete; otherwise the missing data is needed.
  void decide(std::span<const PathSeen> paths, std::size_t licence_bytes_min,
              std::vector<Placement>& placements);

  bool due() const;  // STOP or NEED must be sent
  // Sends decisions, but no STOP before the zeros are in place; returns the number of frames. A
  // repeated NEED takes all paths in turn.
  std::size_t poll_transmit(const Recipient& to, const AnswerPath& on, FrameWriter& frames,
                            std::span<wire::TxPacket> out);

 private:
  enum class State : std::uint8_t {
    kCollecting,  // no SENT_ONCE yet
    kWaiting,     // SENT_ONCE has arrived: until no path may deliver more packets
    kGranted,     // the ledger has granted the loss; permissions are being revoked
    kNeedDue,     // NEED must be sent
    kNeeded,      // it was sent, and no SENT_ONCE has arrived since
    kStopDue,     // complete with its holes; STOP must be sent
    kDone,
  };
  struct Message {
    State state = State::kCollecting;
    Licence licence;          // the receiver's; without a licence everything is needed
    std::uint32_t needs = 0;  // NEED frames so far; above 0: exact, its holes were over budget
    bool urgent = false;
    std::vector<wire::PathMark> marks;  // paths that packets may still arrive on
    std::uint32_t echo = 0;             // echo and path of the newest SENT_ONCE
    wire::PathIndex path = 0;
    std::uint32_t lost_bytes = 0;  // for STOP
    std::vector<wire::Hole> holes;

    void on_sent_once(const wire::SentOnce& frame);
    bool quiet(std::span<const PathSeen> paths);
  };
  void forget_done();
  void decide(std::uint64_t number, Message& message, std::size_t licence_bytes_min,
              std::vector<Placement>& placements);

  RecvQueue& queue_;
  Counters& counters_;
  LossLedger ledger_;
  std::map<std::uint64_t, Message> messages_;
};

}  // namespace dlcp::core
