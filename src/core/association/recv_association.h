// The receiving side of one association: all streams from one peer endpoint, and what they share.
// Changes of streams are reported in two acknowledgements, so that the loss of one does no harm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/association/data_run.h"
#include "core/bounded_loss/path_seen.h"
#include "core/channel/channel.h"
#include "core/channel/frame_writer.h"
#include "core/channel/used_numbers.h"
#include "core/config.h"
#include "core/counters.h"
#include "core/flow_control/ack_clock.h"
#include "core/flow_control/credit_pool.h"
#include "core/liveness/ping_clock.h"
#include "core/paths/answer_turns.h"
#include "core/placement/recv_placing.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class RecvStream;

class RecvAssociation : public std::enable_shared_from_this<RecvAssociation> {
 public:
  struct Open {
    std::uint64_t token = 0;  // local
    std::uint32_t place = 0;  // index of its slot
    std::uint64_t sender_token = 0;
    wire::EndpointAddress sender;
    std::uint32_t key_stream = 0;  // see wire::Welcome
  };
  RecvAssociation(const Config& config, Counters& counters, CreditPool& credits, Channel channel,
                  const Open& open);
  ~RecvAssociation() { credits_.leave(grant_); }

  std::uint64_t token() const { return open_.token; }
  std::uint32_t place() const { return open_.place; }
  std::uint64_t peer_token() const { return open_.sender_token; }
  const wire::EndpointAddress& sender() const { return open_.sender; }
  Channel& channel() { return channel_; }
  std::vector<std::byte>& plain() { return plain_; }       // of the last compressed packet
  RecvPlacing* placing() const { return placing_.get(); }  // null: no card places data here
  void place_with(Card& card, LinkTable& links);
  bool on_link(Time now, const wire::Link& frame);  // false if no card places data here

  // --- streams: takes() is false for a used number, because a repeated HELLO opens nothing
  bool takes(std::uint32_t stream) { return opened_.use(stream); }
  void join(RecvStream& stream);
  void leave(const RecvStream& stream);
  void on_left(Time now, Duration keep);  // after leave(); the last one returns the credit
  bool expired(Time now) const { return now >= expires_at_; }
  void establish(std::uint32_t payload_bytes);                    // a stream has received START
  std::uint32_t payload_bytes() const { return payload_bytes_; }  // 0: not established
  const Grant& grant() const { return grant_; }
  PingClock& pings() { return pings_; }
  std::span<const PathSeen> paths() const { return paths_; }
  AnswerPath answer_path() const { return {reply_path_, config_.paths, frame_bytes_max()}; }
  void reply_on(wire::PathIndex path) { reply_path_ = path; }
  std::size_t frame_bytes_max() const;  // of a control frame to this peer
  wire::Welcome welcome(const wire::Hello& hello, std::uint64_t token) const;  // of its stream
  std::vector<std::uint64_t>& departed() { return departed_; }  // tokens, see liveness/departed

  // --- from the network and from streams
  // Data packets that their stream has accepted: each, or the last of `count`; then all together.
  void note_path(const wire::RxPacket& last, const wire::DataHeader& header, unsigned count = 1);
  void on_run(Time now, RecvStream& stream, const DataRun& run);
  void note_placed(const wire::PlacedRun& placed, DataRun& run);  // if the card has placed them
  void on_duplicate() { ++duplicates_; }
  void on_probe(Time now, const wire::Probe& probe, wire::PathIndex path);
  // Returns the tokens of streams that the sender does not know, which may have failed.
  std::vector<std::uint64_t> on_pong(Time now, const wire::Pong& pong, wire::PathIndex path);
  void report(Time now, RecvStream& stream, AckBy by);
  // The started stream may have changed, or must be in this number of the next acknowledgements.
  void note(RecvStream& stream, unsigned reports = 0);
  // Whether its packets may leave after data (Agenda::Turn::kFollower). on_answer(): see AckClock.
  bool can_follow() const { return !placing_ && !ack_clock_.hurries(); }
  bool on_answer(Time now) { return ack_clock_.on_answer(now); }
  Time next_timeout() const;
  void on_timeout(Time now);
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  void ping(Time now);
  bool report_paths(Time now);
  bool report_streams();
  std::size_t repeat_for_others(FrameWriter& frames, std::span<wire::TxPacket> out);
  bool build_ack(Time now);  // false if the frame had no room for everything

  const Config& config_;
  Counters& counters_;
  CreditPool& credits_;
  Channel channel_;
  std::vector<std::byte> plain_;
  const Open open_;
  std::uint32_t payload_bytes_ = 0;
  Grant grant_;
  UsedNumbers opened_;
  std::vector<RecvStream*> streams_, busy_;  // busy: with reports or frames due; sorted by number
  std::size_t posted_ = 0;                   // streams with a posted receive
  std::vector<std::uint64_t> departed_;
  std::uint32_t next_report_ = 0;  // number of the first stream in the next frame
  Time expires_at_ = kNever;
  std::vector<DueAnswer> answers_;  // to PROBEs since the last ACK
  AnswerTurns probes_;              // since the last data
  AckClock ack_clock_;
  PingClock pings_;
  std::uint32_t duplicates_ = 0;  // packets received twice so far; every ACK reports it
  wire::Ack ack_;
  std::vector<PathSeen> paths_;
  wire::PathIndex reply_path_ = 0;  // the sender's path on which it is most likely to receive
  std::unique_ptr<RecvPlacing> placing_;
};

}  // namespace dlcp::core
