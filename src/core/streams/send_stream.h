// The sending side of one stream: the messages of one NCCL connection, its handshake, its licences
// and its end. The network state belongs to the association, which also sends the packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/association/send_association.h"
#include "core/bounded_loss/lossy_sends.h"
#include "core/channel/frame_arena.h"
#include "core/config.h"
#include "core/counters.h"
#include "core/endpoint/timers.h"
#include "core/endpoint_types.h"
#include "core/liveness/liveness.h"
#include "core/setup/handshake.h"
#include "core/streams/send_queue.h"
#include "wire/control_frame.h"

namespace dlcp::core {

class SendStream {
 public:
  SendStream(Time now, const Config& config, Counters& counters, const wire::EndpointAddress& local,
             std::uint64_t token, const Handshake::Target& target,
             std::shared_ptr<SendAssociation> association);
  ~SendStream();
  SendStream(const SendStream&) = delete;
  SendStream& operator=(const SendStream&) = delete;

  std::uint64_t token() const { return token_; }
  std::uint32_t number() const { return number_; }  // in the association
  SendAssociation& association() const { return *association_; }
  Counters& counters() const { return counters_; }
  SendQueue& queue() { return queue_; }
  const SendQueue& queue() const { return queue_; }
  LossySends& lossy() { return lossy_; }
  const LossySends& lossy() const { return lossy_; }

  bool open() const { return handshake_.state() == Handshake::State::kDone; }
  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  bool can_post() const { return open() && !failed() && !queue_.full(); }
  void post(Time now, RequestId, std::span<const std::byte> message, const Licence&);

  // --- set-up
  // Starts the handshake: for the association, or to join it if it is established.
  void begin(Time now);
  // The receiver does not know the association any more: move_to() replaces it by a new one.
  bool lacks_association() const { return handshake_.was_forgotten(); }
  void move_to(Time now, std::shared_ptr<SendAssociation> association);
  void on_welcome(Time now, const wire::Welcome& welcome);
  void on_started(Time now, const wire::Started& started);
  void on_refuse(const wire::Refuse& refuse);

  // --- from the network
  struct News {
    bool sound = false;  // false: the report names messages that were never sent
    bool posted = false;
    SendQueue::Acked acked;
  };
  News on_report(Time now, const wire::StreamReport& report);
  void on_need(Time now, const wire::Need& need);
  void on_stop(Time now, const wire::Stop& stop);
  void on_ping(Time now);
  void on_peer_closed(Time now, std::uint32_t completed);  // CLOSE
  void on_reset(const wire::Reset& reset);
  void on_pause(Time now, Duration length) { liveness_.on_pause(now, length); }
  void on_refused(Time now);  // see Liveness

  // --- time
  void on_timeout(Time now);
  Deadlines deadlines() const;
  Time next_timeout() const { return deadlines().next(); }
  // Updates what is expected of the peer.
  void watch(Time now);
  bool waits() const { return open() && !peer_closed_ && !queue_.empty(); }
  bool owes_progress() const { return liveness_.owes_progress(); }

  // Sends control frames of this stream.
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  bool has_sendable() const { return queue_.has_next() && !association_->starved(); }
  std::optional<SendQueue::Done> pop_done() { return queue_.pop_done(); }
  bool unfinished() const { return !queue_.empty(); }
  bool peer_closed() const { return peer_closed_; }
  std::uint64_t peer_token() const { return handshake_.receiver_token(); }
  std::uint64_t called() const { return handshake_.called(); }  // token in sent frames
  const Handshake& handshake() const { return handshake_; }
  const wire::EndpointAddress& peer_address() const { return handshake_.peer_address(); }
  std::uint64_t completed() const { return queue_.first_message(); }

 private:
  void opened(Time now, std::uint32_t posted);
  void heard(Time now);  // callers call watch() at the end
  void give_up(Liveness::Standing standing);
  void fail(Error error);

  const Config& config_;
  Counters& counters_;
  const std::uint64_t token_;
  std::shared_ptr<SendAssociation> association_;
  std::uint32_t number_ = 0;
  Handshake handshake_;
  SendQueue queue_;
  Coder coder_;
  LossySends lossy_;
  Liveness liveness_;
  bool pong_due_ = false;
  bool peer_closed_ = false;
  std::optional<Error> error_;
};

}  // namespace dlcp::core
