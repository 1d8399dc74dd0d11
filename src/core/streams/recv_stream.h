// The receiving side of one stream: places data in any order, and detects that the sender has gone.
// recv_queue holds the messages, lossy_receives decides about losses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/association/recv_association.h"
#include "core/bounded_loss/lossy_receives.h"
#include "core/channel/frame_writer.h"
#include "core/channel/strays.h"
#include "core/endpoint_types.h"
#include "core/paths/answer_turns.h"
#include "core/streams/recv_queue.h"
#include "core/streams/stream.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class RecvStream : public Stream {
 public:
  RecvStream(Time now, const Config& config, Counters& counters, UnpostedPool& pool,
             std::uint64_t token, const wire::Hello& hello, RecvAssociation& association);
  ~RecvStream() { association_->leave(*this); }
  RecvAssociation& association() const { return *association_; }
  void on_accepted();                        // until then it lives as long as its sender answers
  bool started() const { return started_; }  // it can be accepted
  bool can_post() const { return !failed() && queue_.can_post(); }
  void post(Time now, RequestId request, std::span<std::byte> buffer, const Licence& licence,
            MemoryKind kind, PlacementBatch& placements);

  void on_hello(const wire::Hello& hello, const AnswerWay& way,
                std::span<const wire::EndpointAddress> other_lanes = {});
  void join(Time now, std::uint32_t stream);  // without START
  bool joined() const { return joined_; }
  void on_start(Time now, const wire::Start& start, wire::PathIndex path);
  void on_data(const wire::RxPacket& packet, const wire::DataPacket& data, DataRun& run);
  void on_run(Time now, const DataRun& run);  // after its last packet
  // The packets of a run, see RecvQueue::on_run(). Returns the number of those at the front that it
  // has taken; on_data() must handle the others.
  std::size_t on_data_run(std::span<const wire::RxPacket> packets, const wire::DataHeader& first,
                          DataRun& run);
  void on_sent_once(Time now, const wire::SentOnce& frame, wire::PathIndex path,
                    std::vector<Placement>& placements);
  void on_unknown();                                          // to the sender, as its PONG says
  void on_peer_closed(Time now, std::uint32_t acknowledged);  // CLOSE
  void on_pause(Time now, Duration length);
  void on_refused(Time now);
  void on_timeout(Time now);
  void on_placed(Time now, std::uint64_t message, std::vector<Placement>& placements);
  // The card has placed packets, or one of its permissions to write the message has ended.
  void on_placed_run(Time now, const wire::PlacedRun& placed, const RecvPlacing::Use& use,
                     std::vector<Placement>& placements);
  // Posted messages from this number on, if there is a card. False: a long one has no permission,
  // and its sender may wait to be told.
  bool permit(std::uint64_t first);
  void on_permit(Time now, const RecvPlacing::Outcome& outcome, std::vector<Placement>& placements);
  Time next_timeout() const { return failed() ? kNever : liveness_.deadline(); }
  // For PING: whether something is expected from the sender, and since when nothing has arrived.
  bool waits() const { return queue_.has_posted() || (started_ && !accepted_); }
  Time silent_since() const { return liveness_.heard_at(); }
  bool announce_all() { return queue_.announce_all(); }
  unsigned reports_left = 0;      // acknowledgements that still report this stream
  bool counts_as_posted = false;  // in the association: it has a posted receive
  void report(wire::StreamReport& report, std::size_t bytes);
  std::size_t write_loss_frames(FrameWriter& frames, std::span<wire::TxPacket> out);  // STOP, NEED
  bool take_message_end();  // true if a message was completed since the last call
  bool under_way() const { return queue_.under_way(); }
  // Nothing is left to report or to send, and no message is under way.
  bool is_idle() const { return reports_left == 0 && !losses_.due() && !under_way(); }

  std::size_t poll_transmit(FrameWriter& frames, std::span<wire::TxPacket> out);
  bool has_outcome() const { return failed() || queue_.has_done(); }
  std::optional<ReceiveDone> pop_done() { return queue_.pop_done(); }
  bool unfinished() const { return queue_.has_posted(); }
  std::uint64_t peer_token() const { return sender_token_; }
  std::uint64_t called() const { return peer_token(); }  // destination of sent frames
  const wire::EndpointAddress& peer_address() const { return association_->sender(); }
  const wire::Membership& membership() const { return membership_; }
  std::uint64_t completed() const { return queue_.completed(); }

 private:
  void start(Time now, std::uint32_t payload_bytes);
  void count(Receipt receipt);
  void check_overflow();
  void decide_losses(std::vector<Placement>& placements);
  void note_progress(Time now);
  void watch(Time now);  // updates what is expected of the sender
  void hear_association();

  const std::uint64_t sender_token_;
  const wire::Membership membership_;
  std::shared_ptr<RecvAssociation> association_;
  AnswerTurns openings_;  // answers to HELLO and START
  bool started_ = false;
  bool joined_ = false;  // by WELCOME, without START
  bool accepted_ = false;
  RecvQueue queue_;
  LossyReceives losses_;
  std::uint64_t ended_ = 0;  // messages below were complete at the last take_message_end()

  // To a HELLO with DSCP and ECN, and to one without them.
  std::array<std::optional<wire::Welcome>, 2> welcomes_due_;
  bool started_due_ = false;
};

}  // namespace dlcp::core
