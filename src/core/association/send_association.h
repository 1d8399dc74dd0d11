// The sending side of one association: all streams (NCCL connections) from this endpoint to one
// peer endpoint, and the state that they share (README.md). One stream, the leader, establishes the
// association by the full handshake; later streams join it within one RTT.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compression/gate.h"
#include "core/association/send_setup.h"
#include "core/association/stream_schedule.h"
#include "core/bounded_loss/lossy_sends.h"
#include "core/channel/channel.h"
#include "core/channel/frame_writer.h"
#include "core/channel/unmarked_peers.h"
#include "core/config.h"
#include "core/congestion/burst.h"
#include "core/congestion/endpoint_rate.h"
#include "core/congestion/pacer.h"
#include "core/congestion/queue/queue_congestion.h"
#include "core/counters.h"
#include "core/flow_control/send_window.h"
#include "core/loss_detection/ack_reader.h"
#include "core/loss_detection/flight.h"
#include "core/packet_size/chunk_cut.h"
#include "core/packet_size/prober.h"
#include "core/paths/path_set.h"
#include "core/placement/send_placing.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class SendStream;

class SendAssociation : public std::enable_shared_from_this<SendAssociation> {
 public:
  struct Open {
    std::uint64_t token = 0;  // the peer sends ACKs to it
    std::uint32_t place = 0;  // index of the association's slot in the endpoint's table
    wire::EndpointAddress peer;
    std::uint64_t seed = 0;  // of the random choice of paths
  };
  // `counters`: of the communicator (core::ContextId) whose stream opens the association. `rate`
  // and `unmarked_peers` are shared by all associations of the endpoint.
  SendAssociation(const Config& config, Counters& counters, EndpointRate& rate,
                  UnmarkedPeers& unmarked_peers, const Open& open);
  ~SendAssociation() { rate_.update(own_rate_, 0); }

  // --- streams
  // Adds a stream and returns its number. A stream must leave before it is destroyed.
  std::uint32_t join(SendStream& stream);
  void leave(std::uint32_t number);
  // Called after the last leave(). The association stays for `keep`: a peer that has not learned
  // how a stream ended sends PING, and the stream's record (liveness/departed) answers.
  void on_left(Time now, Duration keep);
  bool expired(Time now) const { return now >= expires_at_; }
  bool empty() const { return streams_.empty(); }
  bool established() const { return setup_.established(); }
  SendSetup& setup() { return setup_; }
  // Chooses the first stream that has not failed as the leader, and returns it. Returns null if
  // there is a leader already, if the association is established, or if all streams have failed.
  SendStream* choose_leader();
  // WELCOME to the leader has the peer's token, from which the association's keys are derived.
  // STARTED ends the leader's handshake; `terms` are what the two sides agreed on.
  void on_welcome(const wire::Welcome& welcome);
  void establish(Time now, const wire::Started& started, const AssociationTerms& terms);
  // WELCOME to a stream that has joined names the association's reserve.
  void on_joined(const wire::Welcome& welcome) { window_.on_reserve(welcome.window_packets); }

  std::uint64_t token() const { return open_.token; }
  std::uint32_t place() const { return open_.place; }
  std::uint64_t peer_token() const { return setup_.peer_token; }
  const wire::EndpointAddress& peer_address() const { return open_.peer; }
  Channel& channel() { return channel_; }
  PathSet& paths() { return paths_; }
  Prober& prober() { return prober_; }
  compression::Gate& gate() { return gate_; }
  Duration round_trip() const { return acks_.rtt().recent_or(setup_.terms.round_trip); }
  Duration answer_time() const { return probe_terms().answer_time; }
  // Messages of this size and more are sent when their receive is posted.
  std::size_t waits_from() const {
    return placing_ && placing_->works() ? config_.placed_bytes_min : ~std::size_t{0};
  }
  // A message waits an RTT for credit, because it is larger than what the receiver grants at once.
  bool starved() const { return window_.starved(); }
  template <class Work>
  void for_each_stream(Work&& work) const {
    streams_.for_each(std::forward<Work>(work));
  }

  // --- from the network
  // A frame of the peer has arrived on `path`. Data packets then name this path as one that works,
  // for the peer's ACKs.
  void heard_on(wire::PathIndex path) { heard_path_ = path; }
  // `newest`: the ACK has a higher number than all control frames that the association received
  // before; only then is its credit up to date. Packets that ack.placed names are added to
  // ack.paths. `reported` becomes the tokens of the streams that the ACK reports on.
  void on_ack(Time now, wire::Ack& ack, Time arrived_at, bool newest,
              std::vector<std::uint64_t>& reported);
  // Streams that have left, and that the last ACK still reports on.
  std::span<const std::uint32_t> ended() const { return ended_; }
  // The last ACK was a PING, made at `sent` by the peer's clock. report_unknown(): PONG names this
  // stream, of which nothing is known any more.
  void on_ping(Time now, std::uint32_t sent);
  void report_unknown(std::uint32_t number);
  // Both return false if this end places nothing.
  bool on_link(Time now, const wire::Link& frame);
  bool on_permits(Time now, const wire::Permits& frame);
  // `stream` has received NEED, with which the receiver requests the missing data of a licensed
  // message, or STOP, with which it does without this data.
  void on_need(Time now, SendStream& stream, const wire::Need& need);
  void on_stopped(Time now, SendStream& stream, const LossySends::Stopped& stopped);
  // A stream whose peer has closed had this number of packets in flight.
  void on_settled(std::uint32_t packets) { window_.on_settled(packets); }
  void on_pause(Time now) { acks_.on_pause(now); }  // this process did not run before `now`
  // The association or one of its streams has received a frame of the peer: an answer to probes,
  // and a sign of life for all streams, which ask for its time when they judge the peer.
  void on_heard(Time now) {
    prober_.clock().on_answer();
    heard_at_ = now;
  }
  Time heard_at() const { return heard_at_; }
  void probe_now(Time now) { prober_.clock().expire(now); }  // there is reason to doubt the peer
  void probe_once() { prober_.clock().demand(); }

  void wake(const SendStream& stream);  // a message of the stream was posted

  // --- time
  // Schedules probes while any stream waits() for the peer. Called when this may have changed.
  void watch(Time now);
  void on_timeout(Time now);
  Time next_timeout() const;

  // --- to the network
  // Writes packets to `out` and returns their number. `out` is the free part of an array of `whole`
  // packets. A unit of packets that the datapath sends together (congestion/burst.h) is written
  // only if all of it fits into `out`, or if it is larger than the whole array.
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                            std::size_t whole);
  bool has_in_flight() const { return window_.in_flight() > 0; }
  // No data has reached the peer's host, but probes of the same size, which are of class control,
  // have arrived at the peer.
  bool needs_unmarked() const;
  Time delivered_at() const { return window_.delivered_at(); }
  bool wants_room() const { return wants_room_; }  // the next unit did not fit into `out`

 private:
  const Bitmap* acked_of(const ChunkRef& chunk) const;
  std::size_t packet_bytes() const;
  ProbeClock::Terms probe_terms() const;
  bool owes_progress() const;
  void refresh_waits() const;
  void collect_losses(Time now, AckSample& sample);
  void judge_losses(Time now);  // when no ACK has arrived
  // Data has arrived at the peer, or the peer has posted receives.
  void on_progress(bool has_arrived);
  void refresh_lossy(Time now, SendStream& stream, bool is_silent = false);
  void report_window(Time now) const;
  std::size_t emit_sent_once(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  bool begin_burst(Time now, SendStream& stream, const ChunkRef& first, const ChunkView& chunk);
  std::size_t run_packets(const SendQueue& queue, const ChunkRef& chunk, std::size_t room,
                          double most) const;
  // Calls `ask(i)` for each of `count` packets from `first` on, sent together, that requests an
  // ACK.
  template <class Ask>
  void for_each_asking(Time now, const SendStream& stream, const ChunkRef& first, std::size_t count,
                       const Ask& ask) {
    const bool follows = streams_.has_next();
    SendWindow::AskTerms terms = window_.ask_terms(now, congestion_.window());
    terms.unneeded = fits_alone(stream, first, terms.most);
    const std::size_t end = follows ? count : count - 1;
    const auto next = [&](std::size_t from) { return window_.next_asking(now, terms, from, end); };
    for (std::size_t i = next(0); i < end; i = next(i + 1))
      ask(i);
  }
  void on_run_sent(Time now, SendStream& stream, std::size_t packets, std::size_t bytes);
  wire::DataHeader header_of(Time now, const SendStream& stream, std::uint64_t message,
                             wire::PathIndex path) const;
  bool fits_alone(const SendStream& stream, const ChunkRef& first, double most) const;
  bool pads(std::size_t bytes, std::size_t message_bytes) const;
  void emit_run(Time now, SendStream& stream, const ChunkRef& first, FrameWriter& frames,
                std::span<wire::TxPacket> out);
  bool emit_piece(Time now, SendStream& stream, FrameWriter& frames, wire::TxPacket& out);
  std::optional<SendPlacing::Way> placed_way(Time now, const ChunkRef& chunk,
                                             TrafficClass traffic_class,
                                             std::span<const std::byte> whole, std::size_t bytes,
                                             wire::PathIndex path);
  bool may_be_placed(const SendQueue& queue) const;
  std::size_t emit_placed(Time now, SendStream& stream, const ChunkRef& first,
                          std::span<wire::TxPacket> out);
  bool room_for_unit(std::size_t room, std::size_t whole);
  std::size_t emit_data(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                        std::size_t whole);

  const Config& config_;
  Counters& counters_;
  EndpointRate& rate_;
  UnmarkedPeers& unmarked_peers_;
  double own_rate_ = 0;
  const Open open_;
  Channel channel_;
  SendSetup setup_;
  StreamSchedule streams_;
  std::vector<std::uint32_t> ended_;
  Time expires_at_ = kNever;

  Flight flight_;
  PathSet paths_;
  std::unique_ptr<SendPlacing> placing_;  // null: no card places data
  QueueCongestion congestion_;
  Pacer pacer_;
  AckReader acks_;
  SendWindow window_;
  Burst burst_;
  ChunkCut cut_;
  compression::Gate gate_;
  bool wants_room_ = false;
  bool has_arrived_ = false;  // data, at the peer
  std::vector<Flight::Loss> losses_;
  Prober prober_;
  std::optional<wire::Pong> pong_due_;
  Time heard_at_{};
  wire::PathIndex heard_path_ = 0;
};

}  // namespace dlcp::core
