// The sending side of one stream: the messages of one NCCL connection, their licences, handshake
// and end. It sends only handshake frames; its SendAssociation sends the data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/association/send_association.h"
#include "core/bounded_loss/lossy_sends.h"
#include "core/channel/frame_writer.h"
#include "core/endpoint_types.h"
#include "core/setup/handshake.h"
#include "core/streams/send_queue.h"
#include "core/streams/stream.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class SendStream : public Stream {
 public:
  SendStream(Time now, const Config& config, Counters& counters, const wire::EndpointAddress& local,
             std::uint64_t token, const Handshake::Target& target, SendAssociation& association);
  ~SendStream();

  SendAssociation& association() const { return *association_; }
  SendQueue& queue() { return queue_; }
  const SendQueue& queue() const { return queue_; }
  LossySends& lossy() { return lossy_; }
  const LossySends& lossy() const { return lossy_; }
  bool open() const { return handshake_.state() == Handshake::State::kDone; }
  bool can_post() const { return open() && !failed() && !queue_.full(); }
  // Queues a message. Its memory must stay unchanged until pop_done() returns it.
  void post(Time now, RequestId, std::span<const std::byte> message, const Licence&, MemoryKind);
  bool reads_payloads() const { return handshake_.terms().protection != wire::Protection::kHeader; }

  // --- set-up
  void begin(Time now);  // the handshake, which establishes the association or joins it
  // The peer no longer has the association that this stream tried to join: call move_to().
  bool lacks_association() const { return handshake_.was_forgotten(); }
  void move_to(Time now, SendAssociation& association);
  void on_welcome(Time now, const wire::Welcome& welcome);
  void on_started(Time now, const wire::Started& started);
  void on_refuse(const wire::Refuse& refuse);  // the listener rejects the stream

  // --- from the network (frames: wire/frames/control_frame.h, wire/frames/loss_frame.h)
  struct Progress {       // in the part of an ACK that reports on this stream
    bool sound = false;   // false: invalid, because it names messages that were never sent
    bool posted = false;  // the peer has posted more receives
    SendQueue::Acked acked;
  };
  Progress on_report(Time now, const wire::StreamReport& report);
  void on_posted(Time now, std::uint64_t posted);  // the peer has posted that many receives
  void on_need(Time now, const wire::Need& need);
  void on_stop(Time now, const wire::Stop& stop);
  // CLOSE: the peer has received all messages below number `completed`, and receives no more.
  void on_peer_closed(Time now, std::uint32_t completed);
  void on_pause(Time now, Duration length);  // this process did not run for `length` before `now`
  void on_refused(Time now);                 // an ICMP error reports the peer as unreachable

  // --- time
  void on_timeout(Time now);
  Time next_timeout() const;
  void on_turn(Time now);  // its next packet is about to be chosen
  void watch(Time now);    // tells Liveness what the peer must send now
  bool waits() const { return open() && !peer_closed_ && !queue_.empty(); }
  bool owes_progress() const { return liveness_.owes_progress(); }

  // Writes the control frames that are due; returns their number.
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  bool has_sendable() const { return queue_.has_next() && !association_->starved(); }
  std::optional<SendQueue::Done> pop_done() { return queue_.pop_done(); }
  bool unfinished() const { return !queue_.empty(); }
  std::uint64_t peer_token() const { return handshake_.receiver_token(); }
  std::uint64_t called() const { return handshake_.called(); }  // frames are sent to this token
  const Handshake& handshake() const { return handshake_; }
  const wire::EndpointAddress& peer_address() const { return handshake_.peer_address(); }
  std::uint64_t completed() const { return queue_.first_message(); }  // messages

 private:
  void opened(Time now, std::uint32_t posted);
  void heard(Time now);  // a frame of the peer arrived; the caller calls watch() afterwards
  void named(Time now);  // the peer has shown that it knows this stream
  void ask(Time now);    // whether it still knows the stream
  void hear_association();
  void give_up(Time now, Liveness::Standing standing);
  bool is_forgotten(Time now) const;  // by the peer, as far as its answers tell
  void count_wait();

  std::shared_ptr<SendAssociation> association_;
  Handshake handshake_;
  SendQueue queue_;
  compression::Coder coder_;
  LossySends lossy_;
  Time named_at_{}, ask_at_{};  // ask_at_: while the stream waits
  std::uint32_t answers_ = 0;   // to probes of the association, until the stream was named last
};

}  // namespace dlcp::core
