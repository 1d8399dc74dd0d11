#include "core/streams/send_stream.h"

#include <algorithm>
#include <utility>

#include "core/coding/coded_piece.h"
#include "core/liveness/peer_errors.h"
#include "wire/serial.h"

namespace dlcp::core {
namespace {

// An answer to a probe names all streams of the association, in several frames if they are many. A
// stream that this number of answers in a row did not name is unknown to the peer. (At a loss of
// 20%, eight frames in a row are lost once in 400,000 times.)
constexpr std::uint32_t kAnswersUnnamed = 8;

}  // namespace

SendStream::SendStream(Time now, const Config& config, Counters& counters,
                       const wire::EndpointAddress& local, std::uint64_t token,
                       const Handshake::Target& target, SendAssociation& association)
    : Stream(config, counters, token),
      association_(association.shared_from_this()),
      handshake_(config, token, target, local),
      queue_(config.requests_max, config.eager_bytes,
             gradient::ChunkJudge(config.level_shares, config.worth.get())) {
  number_ = association_->join(*this);
  liveness_.expect(now, Liveness::Owes::kProgress);
}

SendStream::~SendStream() {
  association_->leave(number_);
}

void SendStream::post(Time now, RequestId request, std::span<const std::byte> message,
                      const Licence& licence, MemoryKind kind) {
  if (peer_closed_)
    return fail(closed_by_peer("the peer has closed the connection before this send was posted"));
  const bool licensed = licence.covers(message.size(), config_.licence_bytes_min) &&
                        licence.bears_a_packet(message.size(), handshake_.terms().payload_bytes) &&
                        LossySends::can_name(config_.paths, handshake_.terms().payload_bytes);
  compression::MessageCoding coding;
  compression::Gate& gate = association_->gate();
  const bool readable = kind != MemoryKind::kDevice;
  if (!licensed && readable && gate.open() &&
      message.size() >= gate.message_bytes_min(licence.shape == LossShape::kDirect)) {
    coding = coder_.choose(message, packet_sizes(handshake_.terms().payload_bytes));
    if (coding.used()) gate.note_ratio(coder_.ratio());
  }
  Licence known = licence;
  if (!readable && config_.worth == nullptr) known.element = gradient::ElementType::kOther;
  queue_.wait_for_receive_from(association_->waits_from());
  queue_.push(request, message, licensed ? &known : nullptr, coding, kind == MemoryKind::kCopy);
  association_->wake(*this);
  if (licensed) lossy_.open(licence);
  watch(now);
  association_->watch(now);
}

// ---- set-up ----

void SendStream::begin(Time now) {
  if (handshake_.state() != Handshake::State::kWaiting) return;
  SendSetup& setup = association_->setup();
  const AssociationName name{association_->token(), association_->peer_token(), number_};
  if (setup.established()) return handshake_.join(now, name, setup.terms);
  setup.listener_keys[number_] = handshake_.listener_key();
  handshake_.lead(now, {association_->token(), 0, number_});
}

void SendStream::move_to(Time now, SendAssociation& association) {
  association_->leave(number_);
  association_ = association.shared_from_this();
  // The receiver made its new association when the HELLO with the old number arrived.
  association_->setup().listener_keys[number_] = handshake_.listener_key();
  number_ = association_->join(*this);
  handshake_.wait();
  watch(now);
}

void SendStream::opened(Time now, std::uint32_t posted) {
  queue_.set_payload_bytes(handshake_.terms().payload_bytes);
  queue_.set_posted(posted);
  watch(now);
}

void SendStream::on_welcome(Time now, const wire::Welcome& welcome) {
  heard(now);
  const Handshake::State before = handshake_.state();
  handshake_.on_welcome(now, welcome);
  if (!handshake_.joins()) association_->on_welcome(welcome);
  if (handshake_.state() != before) liveness_.on_progress(now);
  if (handshake_.state() != before && open()) {
    association_->on_joined(welcome);
    opened(now, welcome.posted);
  }
  watch(now);  // it may be a repetition for an open connection
}

void SendStream::on_refuse(const wire::Refuse& refuse) {
  if (handshake_.state() == Handshake::State::kHello) fail(peer_refuses(refuse));
}

void SendStream::on_started(Time now, const wire::Started& started) {
  const bool keyed = association_->peer_token() != 0;
  if (handshake_.state() != Handshake::State::kStart || !keyed) return;
  heard(now);
  handshake_.finish();
  association_->establish(now, started, handshake_.terms());
  opened(now, started.posted);
}

// ---- from the network ----

void SendStream::heard(Time now) {
  liveness_.on_heard(now);
  association_->on_heard(now);
  named(now);
}

void SendStream::named(Time now) {
  named_at_ = now;
  ask_at_ = now + config_.peer_timeout / 2;
  answers_ = association_->prober().answers();
}

SendStream::Progress SendStream::on_report(Time now, const wire::StreamReport& report) {
  Progress progress;
  if (!queue_.acknowledge(report, progress.acked)) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return progress;
  }
  progress.sound = true;
  named(now);
  progress.posted = queue_.set_posted(wire::expand_serial(report.posted, queue_.end_message()));
  if (progress.acked.in_flight + progress.acked.spurious + progress.acked.late > 0)
    liveness_.on_progress(now);
  watch(now);
  return progress;
}

void SendStream::on_posted(Time now, std::uint64_t posted) {
  if (open() && queue_.set_posted(posted)) watch(now);
}

void SendStream::on_need(Time now, const wire::Need& need) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(need.message, queue_.first_message());
  if (queue_.forgoes(number)) {  // otherwise a repetition
    queue_.need(number);
    association_->on_need(now, *this, need);
  }
  watch(now);
  association_->watch(now);
}

void SendStream::on_stop(Time now, const wire::Stop& stop) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(stop.message, queue_.first_message());
  const auto stopped =
      lossy_.on_stop(queue_, number, stop, handshake_.terms().payload_bytes, counters_);
  if (stopped.progress) liveness_.on_progress(now);
  association_->on_stopped(now, *this, stopped);
  watch(now);
  association_->watch(now);
}

void SendStream::on_peer_closed(Time now, std::uint32_t completed) {
  heard(now);
  peer_closed_ = true;
  if (handshake_.state() == Handshake::State::kStart) {
    // The peer accepted and closed before its STARTED arrived, and will not send STARTED again.
    handshake_.finish();
    if (!association_->established() && association_->peer_token() != 0)
      association_->establish(now, wire::Started{}, handshake_.terms());
    queue_.set_payload_bytes(handshake_.terms().payload_bytes);
  }
  SendQueue::Acked acked;
  const std::uint64_t number = wire::expand_serial(completed, queue_.first_message());
  if (number - queue_.first_message() < std::uint64_t{1} << 31) {
    queue_.acknowledge_below(number, acked);
    association_->on_settled(acked.in_flight);
  }
  if (!queue_.empty())
    fail(closed_by_peer("the peer closed the connection before it had received all data"));
  watch(now);
  association_->watch(now);
}

// ---- time ----

// While data is unacknowledged, a sign of life is expected; progress, if the peer has a buffer.
void SendStream::watch(Time now) {
  if (!open()) return;
  const Liveness::Owes owes = !waits()             ? Liveness::Owes::kNothing
                              : queue_.is_posted() ? Liveness::Owes::kProgress
                                                   : Liveness::Owes::kWord;
  if (liveness_.owes_nothing()) named(now);
  liveness_.expect(now, owes);
}

void SendStream::give_up(Time now, Liveness::Standing standing) {
  counters_.add(Counter::kPeerTimeouts);
  const char* while_what = open() ? "data was outstanding" : "the connection was being opened";
  if (standing == Liveness::Standing::kGone) return fail(peer_gone());
  if (standing == Liveness::Standing::kSilent)
    return fail(peer_silent(Silence::kNoAnswer, config_.peer_timeout, while_what));
  if (open() && is_forgotten(now)) return fail(peer_forgot());
  const PacketSize& size = association_->prober().size();
  fail(peer_stuck(config_.peer_timeout, while_what, size.packet_bytes(size.payload_bytes())));
}

void SendStream::on_refused(Time now) {
  hear_association();
  if (!liveness_.on_refused(now, association_->answer_time())) return;
  open() ? association_->probe_now(now) : handshake_.retry_soon(now);
}

Time SendStream::next_timeout() const {
  if (failed()) return kNever;
  return std::min({liveness_.deadline(), handshake_.next_timeout(), waits() ? ask_at_ : kNever});
}

// A frame for any stream is a sign of life. Until this one is open, only the answer to its own
// HELLO counts.
void SendStream::hear_association() {
  if (open()) liveness_.on_heard(association_->heard_at());
}

void SendStream::on_pause(Time now, Duration length) {
  hear_association();
  liveness_.on_pause(now, length);
}

// Frames for other streams do not show that the peer still knows this one, which it may have closed
// during an outage. Therefore it is probed for while it waits. Silence of the whole peer is probed
// for anyway.
void SendStream::ask(Time now) {
  if (is_forgotten(now)) return give_up(now, Liveness::Standing::kStuck);
  const Duration half = config_.peer_timeout / 2;
  if (association_->heard_at() > now - half) association_->probe_once();
  ask_at_ = now + half / (kAnswersUnnamed + 2);
}

bool SendStream::is_forgotten(Time now) const {
  // The answer that named it last may be among those since then.
  const bool is_unknown = association_->prober().answers() - answers_ > kAnswersUnnamed;
  return is_unknown && now - named_at_ >= config_.peer_timeout;
}

// If all that was sent has arrived, the stream waits for its turn, and the progress of the others
// counts.
void SendStream::count_wait() {
  if (queue_.has_next() && !queue_.has_lost() && queue_.in_flight() == 0)
    liveness_.on_progress(association_->delivered_at());
}

void SendStream::on_turn(Time now) {
  if (liveness_.lacks_progress(now)) count_wait();
}

void SendStream::on_timeout(Time now) {
  if (failed()) return;
  hear_association();
  if (liveness_.standing(now) == Liveness::Standing::kStuck) count_wait();
  const Liveness::Standing standing = liveness_.standing(now);
  if (standing != Liveness::Standing::kAlive) return give_up(now, standing);
  if (waits() && ask_at_ <= now) ask(now);
}

// ---- to the network ----

std::size_t SendStream::poll_transmit(Time now, FrameWriter& frames,
                                      std::span<wire::TxPacket> out) {
  return failed() || open() ? 0 : handshake_.poll_transmit(now, frames, out);
}

}  // namespace dlcp::core
