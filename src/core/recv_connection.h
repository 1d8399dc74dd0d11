// The receiving side of one connection: places data whatever its order, says what is there and how
// much more may come, and notices when the sender has gone. recv_queue knows the messages,
// lossy_receives which may go without a part, credit_pool the window, ack_clock when an
// acknowledgement is due; this class knows what it says about the paths.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ack_clock.h"
#include "core/config.h"
#include "core/counters.h"
#include "core/credit_pool.h"
#include "core/endpoint_types.h"
#include "core/frame_arena.h"
#include "core/liveness.h"
#include "core/loss/lossy_receives.h"
#include "core/loss/path_seen.h"
#include "core/probe_clock.h"
#include "core/recv_queue.h"
#include "core/timers.h"
#include "wire/control_frame.h"
#include "wire/data_header.h"

namespace dlcp::core {

class RecvConnection {
 public:
  RecvConnection(Time now, const Config& config, Counters& counters, CreditPool& credits,
                 UnpostedPool& pool, std::uint64_t token, const wire::Hello& hello);
  ~RecvConnection();

  // `accepted`: the user has it. Until then it lives as long as its sender answers.
  void on_accepted();
  bool started() const { return started_; }  // the sender has said START: it can be accepted
  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  bool can_post() const { return !failed() && queue_.can_post(); }
  void post(Time now, RequestId request, std::span<std::byte> buffer, const Licence& licence,
            std::vector<Placement>& placements);

  void on_hello(const wire::Hello& hello, wire::PathIndex path,
                std::span<const wire::EndpointAddress> lanes = {});
  void on_start(Time now, const wire::Start& start, wire::PathIndex path);
  void on_data(Time now, const wire::RxPacket& packet, const wire::DataPacket& data,
               std::vector<Placement>& placements);
  void on_probe(Time now, const wire::Probe& probe, wire::PathIndex path);
  void on_sent_once(Time now, const wire::SentOnce& frame, wire::PathIndex path,
                    std::vector<Placement>& placements);
  void on_pong(Time now, wire::PathIndex path);
  void on_peer_closed(Time now, std::uint32_t acknowledged);  // CLOSE
  void on_reset(const wire::Reset& reset);
  void on_pause(Time now, Duration length) { liveness_.on_pause(now, length); }
  void on_refused(Time now);
  void on_timeout(Time now);
  void on_placed(Time now, std::uint64_t message, std::vector<Placement>& placements);
  Deadlines deadlines() const;
  Time next_timeout() const { return deadlines().next(); }

  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  bool has_news() const { return failed() || queue_.has_done(); }
  std::optional<RecvQueue::Done> pop_done() { return queue_.pop_done(); }
  void release_copied() { queue_.release_copied(); }
  std::vector<std::vector<std::byte>> take_copied() { return queue_.take_copied(); }

  bool unfinished() const { return queue_.has_posted(); }
  bool peer_closed() const { return peer_closed_; }
  std::uint64_t peer_token() const { return sender_token_; }
  std::uint64_t called() const { return sender_token_; }  // the token that our frames name
  const wire::EndpointAddress& peer_address() const { return sender_; }
  const wire::Membership& membership() const { return membership_; }
  std::uint64_t completed() const { return queue_.completed(); }

 private:
  void note_path(const wire::RxPacket& packet, const wire::DataHeader& header);
  bool build_ack(Time now);  // false when not all of it fitted into one frame
  void check_overflow();
  void decide_losses(std::vector<Placement>& placements);
  std::size_t frame_bytes_max() const;  // of a control frame to this peer
  void note_progress(Time now);         // something moves; what then is owed watch() says
  void heard(Time now);                 // both
  void answered(Time now);              // a sign of life
  void watch(Time now);
  ProbeClock::Terms ping_terms() const;
  void fail(Error error);

  const Config& config_;
  Counters& counters_;
  CreditPool& credits_;
  std::uint64_t token_;
  std::uint64_t sender_token_;
  wire::EndpointAddress sender_;
  wire::Membership membership_;
  wire::Protection protection_;
  bool started_ = false;
  bool accepted_ = false;
  std::uint32_t payload_bytes_ = 0;
  RecvQueue queue_;
  LossyReceives losses_;
  Grant grant_;

  std::optional<wire::Welcome> welcome_due_;
  bool started_due_ = false;
  std::optional<wire::Probe> probe_to_answer_;
  AckClock ack_clock_;
  std::uint32_t duplicates_ = 0;  // received so far; the sender learns that it was too quick
  wire::Ack ack_;
  std::vector<PathSeen> paths_;
  wire::PathIndex reply_path_ = 0;  // on which the sender is most likely to hear us

  Liveness liveness_;
  ProbeClock ping_clock_;
  bool peer_closed_ = false;
  std::optional<Error> error_;
};

}  // namespace dlcp::core
