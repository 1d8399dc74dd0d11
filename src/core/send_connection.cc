#include "core/send_connection.h"

#include <algorithm>

#include "core/burst.h"
#include "core/credit_pool.h"
#include "core/peer_errors.h"
#include "wire/data_header.h"
#include "wire/serial.h"

namespace dlcp::core {

SendConnection::SendConnection(Time now, const Config& config, Counters& counters,
                               const wire::EndpointAddress& local, const Open& open)
    : config_(config),
      counters_(counters),
      local_(local),
      handshake_(now, config, open.token, open.target, local_),
      queue_(config.requests_max, config.eager_bytes,
             ChunkJudge(config.level_shares, config.worth.get())),
      flight_(config.paths),
      paths_(config.paths, open.seed),
      congestion_(make_congestion(config.congestion, config.target_delay)),
      liveness_(config.peer_timeout),
      prober_(config.peer_timeout) {
  liveness_.expect(now, Liveness::Owes::kProgress);
}

void SendConnection::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void SendConnection::post(Time now, RequestId request, std::span<const std::byte> message,
                          const Licence& licence) {
  if (peer_closed_)
    return fail(closed_by_peer("the peer has closed the connection, and a send was posted"));
  const bool licensed = licence.covers(message.size(), config_.licence_bytes_min) &&
                        licence.bears_a_packet(message.size(), handshake_.payload_bytes()) &&
                        LossySends::can_name(config_.paths, handshake_.payload_bytes());
  queue_.push(request, message, licensed ? &licence : nullptr);
  if (licensed) lossy_.open(licence, message.size());
  watch(now);
}

// ---- from the network ----

void SendConnection::heard(Time now) {
  liveness_.on_heard(now);
  prober_.clock().on_answer();
}

void SendConnection::on_welcome(Time now, const wire::Welcome& welcome) {
  heard(now);
  const Handshake::State before = handshake_.state();
  handshake_.on_welcome(now, welcome);
  if (handshake_.state() != before) liveness_.on_progress(now);
  watch(now);  // it may be a late one, of an open connection
}

void SendConnection::on_refuse(const wire::Refuse& refuse) {
  if (handshake_.state() == Handshake::State::kHello) fail(peer_refuses(refuse));
}

void SendConnection::on_started(Time now, const wire::Started& started) {
  if (handshake_.state() != Handshake::State::kStart) return;
  heard(now);
  handshake_.on_started();
  congestion_->on_handshake(handshake_.took());
  queue_.set_payload_bytes(handshake_.payload_bytes());
  prober_.size().agree(handshake_.payload_bytes(), handshake_.overhead_bytes());
  queue_.set_posted(started.posted);
  window_.open(started.window_packets, started.window_epoch, handshake_.took());
  watch(now);
}

void SendConnection::on_ack(Time now, const wire::Ack& ack, Time arrived_at, bool newest) {
  if (!open()) return;
  SendQueue::Acked acked;
  if (!queue_.acknowledge(ack, acked)) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  counters_.add(Counter::kAcksReceived);
  // A path that has just carried a question and its answer is the one to try when others fail.
  const bool after_silence =
      prober_.clock().unanswered() > 1 || prober_.clock().fruitless() >= ProbeClock::kStalledAfter;
  heard(now);
  AckSample sample{.now = now};
  const auto delays =
      acks_.read_paths(now, ack, arrived_at, round_trip(), {flight_, paths_, *congestion_}, sample);
  if (ack.answers_probe) {
    const Prober::Answer answer = prober_.on_answer(now, ack.probe_echo);
    paths_.on_answered(answer.path, after_silence);
    flight_.on_probe_answered(now, answer.path, answer.asked_at, acks_.rtt().answer_time_or(1ms));
  }
  const bool posted = queue_.set_posted(wire::expand_serial(ack.posted, queue_.end_message()));
  if (newest) window_.on_credit(ack.window_packets, ack.window_epoch);
  window_.on_settled(acked.in_flight);
  window_.on_delivered(now, acked.in_flight, delays.fabric, delays.held);
  const std::uint32_t needless = acked.spurious + acks_.read_duplicates(ack);
  if (needless > 0) {
    counters_.add(Counter::kSpuriousRetransmissions, needless);
    flight_.on_spurious(now, round_trip());
  }
  sample.spurious_packets = needless;
  sample.acked_packets = acked.in_flight + acked.spurious + acked.forgone;
  collect_losses(now, sample);
  sample.round_trip = round_trip();
  sample.window_limited = window_.take_limited();
  congestion_->on_ack(sample);
  pacer_.on_answer(now, acks_.rtt(), window_.limit(congestion_->window()),
                   congestion_->in_slow_start());
  if (sample.lost_packets > 0) tell_window(now);
  lossy_.refresh(now, round_trip(), queue_);
  if (sample.acked_packets > 0) liveness_.on_progress(now);
  if (sample.acked_packets > 0 || posted) prober_.on_progress();
  if (window_.in_flight() == 0) prober_.clock().postpone();
  watch(now);
}

void SendConnection::collect_losses(Time now, AckSample& sample) {
  losses_.clear();
  flight_.find_losses(now, acks_.rtt(), queue_, losses_);
  for (const Flight::Loss& loss : losses_) {
    const auto path = paths_.on_lost(now, loss.path, loss.sent_at, round_trip(), loss.overtaken);
    const bool forgone = queue_.forgoes(loss.chunk.message);
    sample.forgone_packets += forgone ? 1 : 0;
    sample.lost_packets += forgone || path.known ? 0 : 1;
    queue_.mark_lost(loss.chunk);
    config_.tell({now, peer_token(), "holds a packet for lost on path", loss.path});
    if (loss.path == burst_.path) burst_.left = 0;  // what is left of a burst goes elsewhere
    if (path.avoided) {
      counters_.add(Counter::kPathsAvoided);
      config_.tell({now, peer_token(), "avoids path", loss.path});
    }
  }
  window_.on_settled(static_cast<std::uint32_t>(losses_.size()));
  if (!losses_.empty()) prober_.clock().on_repair(now, probe_terms());
  sample.loss_budget = lossy_.hop_share();
  if (sample.forgone_packets > 0) lossy_.need_beyond_budget(queue_);
}

void SendConnection::on_need(Time now, const wire::Need& need) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(need.message, queue_.first_message());
  if (!queue_.forgoes(number)) return watch(now);  // said twice
  queue_.need(number);
  // The SENT_ONCE that it answers was a probe of its path as well.
  flight_.on_probe_answered(now, need.path, wire::from_wire_time(need.echo, now), {});
  AckSample sample{.now = now, .round_trip = round_trip()};
  collect_losses(now, sample);
  congestion_->on_ack(sample);
  lossy_.refresh(now, round_trip(), queue_);
  prober_.on_progress();
  watch(now);
}

void SendConnection::on_stop(Time now, const wire::Stop& stop) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(stop.message, queue_.first_message());
  const auto stopped = lossy_.on_stop(queue_, number, stop, handshake_.payload_bytes(), counters_);
  if (stopped.progress) liveness_.on_progress(now);
  window_.on_settled(stopped.in_flight);
  const AckSample sample{.now = now,
                         .round_trip = round_trip(),
                         .acked_packets = stopped.acked,
                         .forgone_packets = stopped.forgone,
                         .loss_budget = lossy_.hop_share()};
  congestion_->on_ack(sample);
  lossy_.refresh(now, round_trip(), queue_);
  prober_.on_progress();
  watch(now);
}

void SendConnection::on_ping(Time now) {
  heard(now);
  pong_due_ = true;
  watch(now);
}

void SendConnection::on_peer_closed(Time now, std::uint32_t completed) {
  heard(now);
  peer_closed_ = true;
  if (handshake_.state() == Handshake::State::kStart) {
    // The peer accepted, and closed before its STARTED got through: that will not be said again.
    handshake_.on_started();
    queue_.set_payload_bytes(handshake_.payload_bytes());
    prober_.size().agree(handshake_.payload_bytes(), handshake_.overhead_bytes());
  }
  SendQueue::Acked acked;
  const std::uint64_t number = wire::expand_serial(completed, queue_.first_message());
  if (number - queue_.first_message() < std::uint64_t{1} << 31) {
    queue_.acknowledge_below(number, acked);
    window_.on_settled(acked.in_flight);
  }
  if (!queue_.empty())
    fail(closed_by_peer("the peer closed the connection before it had received everything"));
  watch(now);
}

void SendConnection::on_reset(const wire::Reset& reset) {
  fail(peer_gave_up(reset));
}

// ---- time ----

ProbeClock::Terms SendConnection::probe_terms() const {
  return {.answer_time = acks_.rtt().answer_time_or(2 * handshake_.shortest()),
          .outstanding = window_.in_flight() > 0 || queue_.has_next()};
}

// While anything is left to send the peer owes us a word; where it has a buffer for it, progress.
void SendConnection::watch(Time now) {
  if (!open()) return;
  if (peer_closed_ || queue_.empty()) {
    liveness_.expect(now, Liveness::Owes::kNothing);
    prober_.clock().stop();
    return;
  }
  liveness_.expect(now, queue_.is_posted() ? Liveness::Owes::kProgress : Liveness::Owes::kWord);
  prober_.clock().run(now, probe_terms());
}

void SendConnection::give_up(Liveness::Standing standing) {
  counters_.add(Counter::kPeerTimeouts);
  const char* while_what = open() ? "data was outstanding" : "the connection was being opened";
  if (standing == Liveness::Standing::kGone) return fail(peer_gone());
  if (standing == Liveness::Standing::kSilent)
    return fail(peer_silent("has not answered", config_.peer_timeout, while_what));
  fail(peer_stuck(config_.peer_timeout, while_what,
                  prober_.size().packet_bytes(prober_.size().payload_bytes())));
}

void SendConnection::on_pause(Time now, Duration length) {
  liveness_.on_pause(now, length);
  acks_.on_pause(now);
}

void SendConnection::on_refused(Time now) {
  if (!liveness_.on_refused(now, probe_terms().answer_time)) return;
  open() ? prober_.clock().hurry(now) : handshake_.hurry(now);
}

Deadlines SendConnection::deadlines() const {
  Deadlines deadlines;
  if (failed()) return deadlines;
  deadlines.set(Timer::kPeer, liveness_.deadline());
  deadlines.set(Timer::kProbe, prober_.next_timeout(liveness_.owes_progress()));
  deadlines.set(Timer::kLoss, flight_.deadline());
  deadlines.set(Timer::kSentOnce, lossy_.next_timeout(round_trip()));
  if (!open())
    deadlines.set(Timer::kHandshake, handshake_.next_timeout());
  else if (queue_.has_next() && window_.in_flight() < window_.most(congestion_->window()))
    deadlines.set(Timer::kPace, pacer_.next());
  return deadlines;
}

void SendConnection::on_timeout(Time now) {
  if (failed()) return;
  const Liveness::Standing standing = liveness_.standing(now);
  if (standing != Liveness::Standing::kAlive) return give_up(standing);
  if (deadlines().due(Timer::kLoss, now)) {
    AckSample sample{.now = now, .round_trip = round_trip()};
    collect_losses(now, sample);
    if (!losses_.empty()) congestion_->on_ack(sample);
  }
  lossy_.on_timeout(now, round_trip());
  if (prober_.on_timeout(now, probe_terms(), liveness_.owes_progress())) {
    lossy_.on_silence();
    if (prober_.clock().unanswered() == ProbeClock::kStalledAfter && window_.in_flight() > 0) {
      congestion_->on_stall(now);
      tell_window(now);
    }
  }
}

// ---- to the network ----

bool SendConnection::begin_burst(Time now, std::uint32_t message_bytes) {
  if (!pacer_.may_send(now)) return false;
  const bool idle = window_.in_flight() == 0;
  window_.on_burst(now);
  const double limit = window_.limit(congestion_->window());
  // What stands for a round trip would spread the first packets for long.
  const Duration round = acks_.rtt().smoothed_or(handshake_.shortest());
  const Duration packet_time = Pacer::packet_time(round, limit, congestion_->in_slow_start());
  if (idle) pacer_.on_pause(limit);
  const auto cargo = queue_.has_lost() ? PathSet::Cargo::kRepair : PathSet::Cargo::kNew;
  const PathSet::Choice choice = paths_.choose(now, packet_time, cargo);
  auto packets = burst_packets(config_, handshake_.packet_bytes(), packet_time, limit);
  const bool small = message_bytes <= kSmallMessagePackets * handshake_.payload_bytes();
  if (small && idle && config_.burst_packets_max == 0) packets = kSmallMessagePackets;
  burst_ = {choice.path, std::min(packets, choice.packets_max), packet_time};
  counters_.add(Counter::kBurstsSent);
  return true;
}

// Of the chunk that cut_ holds.
void SendConnection::emit_piece(Time now, FrameWriter& frames, wire::TxPacket& out) {
  const SentChunk& sent = cut_.sent();
  const ChunkRef& chunk = cut_.chunk();
  const ChunkCut::Piece piece = cut_.next(prober_.size().payload_bytes());
  wire::DataHeader header;
  header.destination = handshake_.receiver_token();
  header.message = static_cast<std::uint32_t>(chunk.message);
  header.message_bytes = sent.view.message_bytes;
  header.offset = piece.offset;
  header.path = cut_.path();
  const std::uint64_t number = flight_.on_sent(now, header.path, chunk, piece.ends);
  header.path_sequence = static_cast<std::uint32_t>(number);
  header.sent_at = wire::wire_time(now);
  header.licensed = sent.licensed;
  header.traffic_class = sent.traffic_class;
  header.window_epoch = window_.epoch();
  header.reply_path = heard_path_;
  header.retransmission = sent.again;
  header.asks_ack = queue_.has_next() && window_.asks_ack(now, congestion_->window());
  frames.emit(header, number, piece.payload, handshake_.protection(), peer_address(), out);

  if (sent.licensed) {
    lossy_.on_sent(now, chunk.message, {header.path, header.path_sequence},
                   piece.ends ? queue_.ended_by(chunk.message) : LicensedEnd::kNothing);
  }
  paths_.on_sent(header.path);
  counters_.add(Counter::kPacketsSent);
  counters_.add(Counter::kBytesSent, piece.payload.size());
  if (sent.again) {
    counters_.add(Counter::kPacketsRetransmitted);
    counters_.add(Counter::kBytesRetransmitted, piece.payload.size());
  }
}

std::size_t SendConnection::emit_control(Time now, FrameWriter& frames,
                                         std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  if (!open()) return handshake_.poll_transmit(now, frames, out);
  if (pong_due_ && count < out.size()) {
    const auto path = paths_.choose(now, Duration::zero()).path;
    frames.emit(wire::Pong{handshake_.receiver_token()}, path, peer_address(), out[count++]);
    pong_due_ = false;
  }
  const std::size_t asked =
      prober_.poll_transmit(now, {handshake_.receiver_token(), &peer_address()}, flight_, paths_,
                            frames, out.subspan(count));
  counters_.add(Counter::kProbesSent, asked);
  count += asked;
  return count;
}

std::size_t SendConnection::poll_transmit(Time now, FrameWriter& frames,
                                          std::span<wire::TxPacket> out, std::size_t whole) {
  if (failed()) return 0;
  std::size_t count = emit_control(now, frames, out);
  wants_room_ = false;
  if (!open()) return count;
  const std::size_t unit = unit_packets(config_, handshake_.packet_bytes());
  double most = window_.most(congestion_->window());
  if (cut_.pending() && queue_.is_acked(cut_.chunk())) cut_.drop();
  for (;;) {
    // Right behind the message that it ends, before the next one.
    if (lossy_.due()) {
      const Recipient to{handshake_.receiver_token(), &peer_address()};
      count += lossy_.poll_transmit(now, queue_, to, frames, out.subspan(count));
    }
    if (count == out.size()) break;
    if (cut_.pending()) {
      emit_piece(now, frames, out[count++]);
      continue;
    }
    const auto chunk = queue_.next();
    if (!chunk) break;
    if (window_.in_flight() >= most) {
      window_.note_stopped(congestion_->window(),
                           queue_.view(*chunk).message_bytes / handshake_.payload_bytes());
      break;
    }
    if (burst_.left == 0) {
      if (!begin_burst(now, queue_.view(*chunk).message_bytes)) break;
      most = window_.most(congestion_->window());
    }
    const std::size_t room = out.size() - count;
    const bool unit_begins = burst_.left < unit || burst_.left % unit == 0;
    const std::size_t together = std::min(burst_.left, unit);
    wants_room_ = unit_begins && room < together && together <= whole;
    if (wants_room_) break;
    --burst_.left;
    cut_.begin(*chunk, queue_.mark_sent(*chunk), burst_.path);
    emit_piece(now, frames, out[count++]);
    window_.on_sent(now);
    pacer_.on_sent(now, burst_.packet_time, 2 * kBurstSpan);
    // Bursts are of equal packets: a message's short end closes one.
    if (cut_.sent().view.payload.size() < handshake_.payload_bytes()) burst_.left = 0;
  }
  if (count > 0) watch(now);
  return count;
}

}  // namespace dlcp::core
