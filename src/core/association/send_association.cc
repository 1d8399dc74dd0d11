#include "core/association/send_association.h"

#include <algorithm>
#include <utility>

#include "core/flow_control/credit_pool.h"
#include "core/streams/send_stream.h"
#include "wire/data/data_header.h"
#include "wire/serial.h"

namespace dlcp::core {

SendAssociation::SendAssociation(const Config& config, Counters& counters, EndpointRate& rate,
                                 UnmarkedPeers& unmarked_peers, const Open& open)
    : config_(config),
      counters_(counters),
      rate_(rate),
      unmarked_peers_(unmarked_peers),
      open_(open),
      flight_(config.paths),
      paths_(flight_, open.seed),
      congestion_(config.target_delay),
      gate_(config.compression),
      prober_(config.peer_timeout) {}

// ---- streams ----

std::uint32_t SendAssociation::join(SendStream& stream) {
  streams_.add(++setup_.last_stream, stream);
  return setup_.last_stream;
}

void SendAssociation::wake(const SendStream& stream) {
  streams_.wake(stream.number());
}

void SendAssociation::leave(std::uint32_t number) {
  const SendStream* stream = streams_.find(number);
  if (stream == nullptr) return;
  window_.on_settled(stream->queue().in_flight());
  if (cut_.pending() && cut_.chunk().stream == number) cut_.drop();
  if (number == setup_.leader) setup_.leader = 0;
  streams_.remove(number);
}

void SendAssociation::on_left(Time now, Duration keep) {
  expires_at_ = setup_.established() ? now + keep : now;
  prober_.clock().stop();
  placing_.reset();
  rate_.update(own_rate_, 0);
}

SendStream* SendAssociation::choose_leader() {
  if (setup_.established() || setup_.leader != 0) return nullptr;
  SendStream* chosen = nullptr;
  streams_.for_each([&](SendStream& stream) {
    if (chosen == nullptr && !stream.failed()) chosen = &stream;
  });
  if (chosen != nullptr) setup_.leader = chosen->number();
  return chosen;
}

void SendAssociation::on_welcome(const wire::Welcome& welcome) {
  const auto key = setup_.key_after(welcome);
  if (!key) return;
  const auto keys = wire::connection_keys(*key, open_.token, welcome.association);
  channel_ = Channel(keys.to_receiver, {keys.to_sender, welcome.protection},
                     wire::host_of(open_.peer), config_.ciphers.get());
}

void SendAssociation::establish(Time now, const wire::Started& started,
                                const AssociationTerms& terms) {
  setup_.establish(terms);
  congestion_.on_handshake(terms.took);
  prober_.size().agree(terms.payload_bytes, wire::overhead_bytes(terms.protection));
  window_.open(started.window_packets, started.window_epoch, terms.took);
  // A tag over the payload, or encryption, needs packets with headers.
  if (config_.card == nullptr) return;
  if (terms.protection != wire::Protection::kHeader)
    config_.card->copies(open_.peer, "it asks for tags over payloads, or for encryption");
  else
    placing_ = std::make_unique<SendPlacing>(now, *config_.card, open_.peer, config_.paths,
                                             terms.shortest());
}

const Bitmap* SendAssociation::acked_of(const ChunkRef& chunk) const {
  const SendStream* stream = streams_.find(chunk.stream);
  return stream == nullptr ? nullptr : stream->queue().acked_of(chunk);
}

// ---- from the network ----

void SendAssociation::on_ack(Time now, wire::Ack& ack, Time arrived_at, bool newest,
                             std::vector<std::uint64_t>& reported) {
  reported.clear();
  ended_.clear();
  if (!setup_.established()) return;
  SendQueue::Acked acked;
  Counters* counters = nullptr;  // of the first stream
  bool posted = false;
  for (const wire::StreamReport& report : ack.streams()) {
    SendStream* stream = streams_.find(report.stream);
    if (stream == nullptr) ended_.push_back(report.stream);
    if (stream == nullptr || !stream->open()) continue;
    const SendStream::Progress part = stream->on_report(now, report);
    if (!part.sound) continue;
    reported.push_back(stream->token());
    if (counters == nullptr) counters = &stream->counters();
    acked.in_flight += part.acked.in_flight;
    acked.spurious += part.acked.spurious;
    acked.late += part.acked.late;
    posted = posted || part.posted;
  }
  (counters == nullptr ? counters_ : *counters).add(Counter::kAcksReceived);
  on_heard(now);
  AckSample sample{.now = now};
  const std::size_t repaired_from =
      placing_ ? placing_->resolve(now, flight_, ack) : ack.paths.size();
  if (placing_) refresh_waits();
  const Duration fabric = acks_.read_paths(
      now, ack, arrived_at, round_trip(),
      {flight_, paths_,
       [&](Duration took, Duration answer) { congestion_.on_delay(now, took, answer); }},
      sample, repaired_from);
  if (ack.answers_probe) {
    const Prober::Answer answer = prober_.on_answer(now, ack.probe_echo);
    paths_.on_answered(answer.path);
    flight_.on_probe_answered(now, answer.path, answer.asked_at, acks_.rtt().answer_time_or());
  }
  if (newest) window_.on_credit(ack.window_packets, ack.window_epoch);
  window_.on_settled(acked.in_flight);
  window_.on_delivered(now, acked.in_flight, fabric);
  const std::uint32_t spurious = acked.spurious + acks_.read_duplicates(ack);
  if (spurious > 0) {
    counters_.add(Counter::kSpuriousRetransmissions, spurious);
    flight_.on_spurious(now, round_trip());
  }
  sample.spurious = spurious;
  sample.acked = acked.in_flight + acked.spurious + acked.late;
  collect_losses(now, sample);
  sample.round_trip = round_trip();
  sample.limited = window_.take_limited();
  congestion_.on_ack(sample);
  rate_.on_delivered(acked.in_flight * packet_bytes());
  if (gate_.on_ack(now, {.network_limited = sample.limited,
                         .backlogged = streams_.has_next(),
                         .wire_bytes_per_s = rate_.total(),
                         .delivered = rate_.delivered()}))
    config_.trace({now, peer_token(),
                   gate_.open() ? "starts to compress messages" : "stops compressing messages",
                   std::nullopt});
  if (sample.lost > 0) report_window(now);
  streams_.for_each_busy([&](SendStream& stream) { refresh_lossy(now, stream); });
  streams_.rest();
  if (sample.acked > 0 || posted) on_progress(sample.acked > 0);
  if (window_.in_flight() == 0) {
    prober_.clock().postpone();
    if (!streams_.has_next()) rate_.update(own_rate_, 0);
  }
  watch(now);
}

void SendAssociation::on_ping(Time now, std::uint32_t sent) {
  if (!setup_.established()) return;
  on_heard(now);
  if (!pong_due_) pong_due_ = wire::Pong{peer_token(), sent, {}};
}

void SendAssociation::report_unknown(std::uint32_t number) {
  if (pong_due_ && pong_due_->unknown.size() < wire::Pong::kUnknownMax)
    pong_due_->unknown.push_back(number);
}

bool SendAssociation::on_link(Time now, const wire::Link& frame) {
  if (!placing_) return false;
  placing_->on_link(now, frame, flight_);
  refresh_waits();
  return true;
}

void SendAssociation::refresh_waits() const {
  streams_.for_each_busy(
      [&](SendStream& stream) { stream.queue().wait_for_receive_from(waits_from()); });
}

bool SendAssociation::on_permits(Time now, const wire::Permits& frame) {
  for (const wire::Permit& permit : frame.permits) {
    SendStream* stream = placing_ ? streams_.find(permit.stream) : nullptr;
    if (stream == nullptr) continue;
    const std::uint64_t first = stream->queue().first_message();
    const std::uint64_t number = wire::expand_serial(permit.message, first);
    if (number - first >= std::uint64_t{1} << 31) continue;
    placing_->on_permit(permit, number);
    const bool covers = permit.segment == 0 && stream->queue().contains(number) &&
                        stream->queue().message_bytes(number) <= permit.bytes;
    if (covers) stream->on_posted(now, number + 1);
  }
  return placing_ != nullptr;
}

void SendAssociation::collect_losses(Time now, AckSample& sample) {
  losses_.clear();
  flight_.find_losses(
      now, acks_.rtt(), [&](const ChunkRef& chunk) { return acked_of(chunk); }, losses_);
  for (const Flight::Loss& loss : losses_) {
    SendQueue& queue = streams_.find(loss.chunk.stream)->queue();
    if (loss.path_failed) {  // which says nothing about queues in the network
      queue.mark_lost(loss.chunk);
      streams_.prefer(loss.chunk.stream);
      config_.trace(
          {now, peer_token(), "repeats a packet of a path that the card gave up", loss.path});
      continue;
    }
    const auto path = paths_.on_lost(now, loss.path, loss.sent_at, round_trip(), loss.overtaken);
    const bool repeated = queue.retransmits(loss.chunk.message);
    sample.forgone += queue.forgoes(loss.chunk.message) ? 1 : 0;
    sample.lost += repeated && !path.known ? 1 : 0;
    queue.mark_lost(loss.chunk);
    if (repeated) streams_.prefer(loss.chunk.stream);
    config_.trace({now, peer_token(), "declares a packet lost on path", loss.path});
    if (loss.path == burst_.path) burst_.left = 0;  // the rest of a burst takes another path
    if (path.avoided) {
      counters_.add(Counter::kPathsAvoided);
      config_.trace({now, peer_token(), "avoids path", loss.path});
    }
  }
  window_.on_settled(static_cast<std::uint32_t>(losses_.size()));
  if (!losses_.empty()) prober_.clock().on_repair(now, probe_terms());
  streams_.for_each_busy([&](const SendStream& stream) {
    sample.loss_budget = std::max(sample.loss_budget, stream.lossy().hop_share());
  });
}

void SendAssociation::judge_losses(Time now) {
  AckSample sample{.now = now, .round_trip = round_trip()};
  collect_losses(now, sample);
  if (!losses_.empty()) congestion_.on_ack(sample);
}

void SendAssociation::on_need(Time now, SendStream& stream, const wire::Need& need) {
  // The SENT_ONCE that NEED answers was also a probe of its path. It may overtake placed packets.
  const Duration data_takes = placing_ ? acks_.rtt().answer_time_or() : Duration{};
  flight_.on_probe_answered(now, need.path, wire::from_wire_time(need.echo, now), data_takes);
  judge_losses(now);
  refresh_lossy(now, stream);
  prober_.on_progress();
}

void SendAssociation::on_stopped(Time now, SendStream& stream, const LossySends::Stopped& stopped) {
  const std::uint32_t settled = stopped.acked + stopped.forgone;
  window_.on_settled(settled);
  const AckSample sample{.now = now,
                         .round_trip = round_trip(),
                         .acked = static_cast<double>(stopped.acked),
                         .forgone = static_cast<double>(stopped.forgone),
                         .loss_budget = stream.lossy().hop_share()};
  congestion_.on_ack(sample);
  refresh_lossy(now, stream);
  on_progress(settled > 0);
}

void SendAssociation::on_progress(bool has_arrived) {
  if (has_arrived && !std::exchange(has_arrived_, true)) unmarked_peers_.note_arrival(open_.peer);
  prober_.on_progress();
}

// A message that becomes exact is retransmitted as far as its packets are known to be lost; ACKs
// and answers to probes show the other losses.
void SendAssociation::refresh_lossy(Time now, SendStream& stream, bool is_silent) {
  const LossySends::Peer peer{round_trip(), heard_at_};
  LossySends& lossy = stream.lossy();
  const bool any_exact = is_silent ? lossy.on_silence(now, peer, stream.queue())
                                   : lossy.refresh(now, peer, stream.queue());
  if (!any_exact) return;
  streams_.prefer(stream.number());
  prober_.clock().on_repair(now, probe_terms());
  config_.trace(
      {now, peer_token(), "makes a message exact, because SENT_ONCE has no answer", std::nullopt});
}

void SendAssociation::report_window(Time now) const {
  const auto packets = static_cast<std::uint64_t>(congestion_.window());
  config_.trace({now, peer_token(), "window after losses or silence, in packets:", packets});
}

// Networks that drop packets by their DSCP or ECN do so from the start. These rounds take a quarter
// of a second, in which a congested queue delivers something.
bool SendAssociation::needs_unmarked() const {
  constexpr unsigned kRounds = 5;
  return config_.can_unmark && prober_.size().rounds_carried() >= kRounds &&
         !unmarked_peers_.reached(open_.peer);
}

// ---- time ----

ProbeClock::Terms SendAssociation::probe_terms() const {
  // Frames may be lost although no data is in flight: SENT_ONCE, its answer, or the acknowledgement
  // of a message that only waits for the end of its permissions.
  const auto awaits_end = [](const SendStream& stream) {
    return stream.queue().is_posted() &&
           (stream.lossy().awaits_answer() || stream.queue().awaits_end());
  };
  const auto is_held = [](const SendStream& stream) { return stream.queue().is_held(); };
  const bool outstanding =
      window_.in_flight() > 0 || streams_.has_next() || streams_.any_busy(awaits_end);
  return {.answer_time = acks_.rtt().answer_time_or(2 * setup_.terms.shortest()),
          .outstanding = outstanding,
          .held = !outstanding && streams_.any_busy(is_held)};
}

// Probes are scheduled while any stream waits for acknowledgements.
void SendAssociation::watch(Time now) {
  if (!setup_.established()) return;
  if (streams_.any_busy([](const SendStream& stream) { return stream.waits(); }))
    prober_.clock().run(now, probe_terms());
  else
    prober_.clock().stop();
}

bool SendAssociation::owes_progress() const {
  return streams_.any_busy([](const SendStream& stream) { return stream.owes_progress(); });
}

Time SendAssociation::next_timeout() const {
  if (!setup_.established() || streams_.empty()) return expires_at_;
  Time next = std::min(prober_.next_timeout(owes_progress()), flight_.deadline());
  if (placing_) next = std::min(next, placing_->next_timeout());
  if (window_.in_flight() < window_.most(congestion_.window()) && streams_.has_next())
    return std::min(next, pacer_.next());
  return next;
}

void SendAssociation::on_timeout(Time now) {
  if (!setup_.established() || streams_.empty()) return;
  if (placing_) placing_->on_timeout(now, flight_);
  if (flight_.deadline() <= now) judge_losses(now);
  if (prober_.on_timeout(now, probe_terms(), owes_progress())) {
    streams_.for_each_busy([&](SendStream& stream) { refresh_lossy(now, stream, true); });
    if (prober_.clock().unanswered() == ProbeClock::kStalledAfter && window_.in_flight() > 0) {
      congestion_.on_stall(now);
      report_window(now);
    }
  }
}

}  // namespace dlcp::core
