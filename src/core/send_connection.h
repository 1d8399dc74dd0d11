// The sending side of one connection. Its own rules are when to probe and when to give up:
// send_queue knows what is owed, flight what is lost, path_set where to, the windows how much.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/ack_reader.h"
#include "core/burst.h"
#include "core/chunk_cut.h"
#include "core/config.h"
#include "core/congestion.h"
#include "core/counters.h"
#include "core/endpoint_types.h"
#include "core/flight.h"
#include "core/frame_arena.h"
#include "core/handshake.h"
#include "core/liveness.h"
#include "core/loss/lossy_sends.h"
#include "core/pacer.h"
#include "core/path_set.h"
#include "core/prober.h"
#include "core/send_window.h"
#include "core/timers.h"
#include "wire/control_frame.h"

namespace dlcp::core {

class SendConnection {
 public:
  struct Open {
    std::uint64_t token = 0;  // ours
    Handshake::Target target;
    std::uint64_t seed = 0;
  };
  SendConnection(Time now, const Config& config, Counters& counters,
                 const wire::EndpointAddress& local, const Open& open);

  bool open() const { return handshake_.state() == Handshake::State::kDone; }
  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  bool can_post() const { return open() && !failed() && !queue_.full(); }
  void post(Time now, RequestId, std::span<const std::byte> message, const Licence&);

  void on_welcome(Time now, const wire::Welcome& welcome);
  void on_refuse(const wire::Refuse& refuse);
  void on_started(Time now, const wire::Started& started);
  void heard_on(wire::PathIndex path) { heard_path_ = path; }  // the way back works there
  // `newest`: no younger control frame has come before it.
  void on_ack(Time now, const wire::Ack& ack, Time arrived_at, bool newest);
  void on_need(Time now, const wire::Need& need);
  void on_stop(Time now, const wire::Stop& stop);
  void on_ping(Time now);
  void on_peer_closed(Time now, std::uint32_t completed);  // CLOSE
  void on_reset(const wire::Reset& reset);
  void on_pause(Time now, Duration length);  // see Liveness
  void on_refused(Time now);
  void on_timeout(Time now);
  Deadlines deadlines() const;
  Time next_timeout() const { return deadlines().next(); }
  // `out` is what others have left of `whole` packets; packets that leave as one unit wait for more
  // room unless even the whole is too small for them.
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                            std::size_t whole);
  bool has_sendable() const { return queue_.has_next() && !window_.starved(); }
  bool wants_room() const { return wants_room_; }  // packets are left for a larger `out`
  std::optional<SendQueue::Done> pop_done() { return queue_.pop_done(); }
  bool unfinished() const { return !queue_.empty(); }
  bool peer_closed() const { return peer_closed_; }
  std::uint64_t peer_token() const { return handshake_.receiver_token(); }
  std::uint64_t called() const { return handshake_.called(); }  // the token that our frames name
  const Handshake& handshake() const { return handshake_; }
  const wire::EndpointAddress& peer_address() const { return handshake_.peer_address(); }
  std::uint64_t completed() const { return queue_.first_message(); }
  const PathSet& paths() const { return paths_; }

 private:
  std::size_t emit_control(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  void emit_piece(Time now, FrameWriter& frames, wire::TxPacket& out);
  bool begin_burst(Time now, std::uint32_t message_bytes);
  Duration round_trip() const { return acks_.rtt().smoothed_or(handshake_.round_trip()); }
  ProbeClock::Terms probe_terms() const;
  void tell_window(Time now) const {
    const auto packets = static_cast<std::uint64_t>(congestion_->window());
    config_.tell({now, peer_token(), "after losses or silence the window has packets:", packets});
  }
  void collect_losses(Time now, AckSample& sample);
  void heard(Time now);  // calls off an early question; callers end with watch() to plan anew
  void watch(Time now);
  void give_up(Liveness::Standing standing);
  void fail(Error error);

  const Config& config_;
  Counters& counters_;
  const wire::EndpointAddress local_;
  Handshake handshake_;
  SendQueue queue_;
  LossySends lossy_;
  Flight flight_;
  PathSet paths_;
  std::unique_ptr<CongestionControl> congestion_;
  Pacer pacer_;
  AckReader acks_;
  SendWindow window_;
  Burst burst_;
  ChunkCut cut_;
  bool wants_room_ = false;
  std::vector<Flight::Loss> losses_;
  Liveness liveness_;
  Prober prober_;
  wire::PathIndex heard_path_ = 0;
  bool pong_due_ = false;
  bool peer_closed_ = false;
  std::optional<Error> error_;
};

}  // namespace dlcp::core
