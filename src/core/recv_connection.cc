#include "core/recv_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/peer_errors.h"

namespace dlcp::core {
namespace {

// A peer silent for so long is asked whether it lives, and then more seldom, but often enough that
// a process that is killed meanwhile is missed within 100 ms. Where very many keep us waiting they
// share a rate of questions.
constexpr Duration kPingFirst = 20ms;
constexpr Duration kPingSeldom = 60ms;
constexpr Duration kPingShare = 50us;  // per connection of this endpoint

}  // namespace

RecvConnection::RecvConnection(Time now, const Config& config, Counters& counters,
                               CreditPool& credits, UnpostedPool& pool, std::uint64_t token,
                               const wire::Hello& hello)
    : config_(config),
      counters_(counters),
      credits_(credits),
      token_(token),
      sender_token_(hello.sender_token),
      sender_(hello.sender_address),
      membership_(hello.membership),
      protection_(std::max(config.protection, hello.protection)),
      queue_(config.requests_max, config.eager_bytes, pool, config.placed_later ? token : 0),
      losses_(queue_, counters),
      liveness_(config.peer_timeout),
      ping_clock_(config.peer_timeout) {
  liveness_.expect(now, Liveness::Owes::kWord);
}

RecvConnection::~RecvConnection() {
  credits_.leave(grant_);
}

void RecvConnection::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void RecvConnection::note_progress(Time now) {
  ping_clock_.on_progress();
  liveness_.on_heard(now);
  ping_clock_.on_answer();
}

void RecvConnection::heard(Time now) {
  note_progress(now);
  watch(now);
}

void RecvConnection::answered(Time now) {
  liveness_.on_heard(now);
  ping_clock_.on_answer();
  watch(now);
}

// The sender owes us a word while a receive is posted, or nobody has accepted it yet. Whether it
// has anything to send only it knows, so a word is all.
void RecvConnection::watch(Time now) {
  const bool waits = queue_.has_posted() || (started_ && !accepted_);
  liveness_.expect(now, waits || !started_ ? Liveness::Owes::kWord : Liveness::Owes::kNothing);
  if (waits)
    ping_clock_.run(now, ping_terms());
  else
    ping_clock_.stop();
}

ProbeClock::Terms RecvConnection::ping_terms() const {
  const auto connections = static_cast<std::int64_t>(credits_.connections());
  return {.answer_time = kPingFirst,
          .outstanding = false,
          .seldom = std::max(kPingSeldom, connections * kPingShare)};
}

void RecvConnection::on_accepted() {
  accepted_ = true;
  if (!queue_.has_posted()) {
    liveness_.expect({}, Liveness::Owes::kNothing);
    ping_clock_.stop();
  }
}

void RecvConnection::check_overflow() {
  if (!queue_.overflow()) return;
  fail({ErrorCode::kInvalidUsage,
        fmt::format("a message of {} bytes came for a receive of {} bytes",
                    queue_.overflow()->message_bytes, queue_.overflow()->buffer_bytes),
        "post receives at least as large as the peer's sends"});
}

// What is quiet and has holes is decided now, in this very call: nothing may change in between.
void RecvConnection::decide_losses(std::vector<Placement>& placements) {
  if (losses_.awaits()) losses_.decide(paths_, config_.licence_bytes_min, placements);
}

void RecvConnection::post(Time now, RequestId request, std::span<std::byte> buffer,
                          const Licence& licence, std::vector<Placement>& placements) {
  const std::uint64_t number = queue_.posted();
  const bool waited_for = queue_.post(request, buffer, placements);
  losses_.on_posted(number, licence, buffer.size());
  decide_losses(placements);
  check_overflow();
  watch(now);
  if (!queue_.has_posted()) return;
  if (peer_closed_) {
    fail(closed_by_peer("the peer has closed the connection, and a receive was posted"));
    return;
  }
  waited_for ? ack_clock_.at_once(now) : ack_clock_.on_posted(now);
}

// ---- from the network ----

// The first, and every repetition. `lanes`: where the listener can be called as well.
void RecvConnection::on_hello(const wire::Hello& hello, wire::PathIndex path,
                              std::span<const wire::EndpointAddress> lanes) {
  reply_path_ = path;
  wire::Welcome welcome;
  welcome.destination = sender_token_;
  welcome.receiver_token = token_;
  welcome.datagram_bytes_max = static_cast<std::uint32_t>(config_.datagram_bytes_max);
  welcome.hello_bytes = hello.hello_bytes;
  welcome.echo = hello.echo;
  welcome.protection = protection_;
  welcome.lanes.assign(lanes.begin(), lanes.end());
  // Of several sizes that come together the largest is the one to answer.
  if (welcome_due_) welcome.hello_bytes = std::max(welcome.hello_bytes, welcome_due_->hello_bytes);
  welcome_due_ = std::move(welcome);
}

void RecvConnection::on_start(Time now, const wire::Start& start, wire::PathIndex path) {
  heard(now);
  reply_path_ = path;
  const bool sound = start.payload_bytes >= wire::kPayloadGranuleBytes &&
                     start.payload_bytes % wire::kPayloadGranuleBytes == 0 &&
                     start.payload_bytes <= config_.datagram_bytes_max &&
                     start.protection == protection_;
  if (!sound) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  if (!started_) {
    started_ = true;
    payload_bytes_ = start.payload_bytes;
    queue_.set_payload_bytes(payload_bytes_);
    credits_.join(grant_, payload_bytes_);
    watch(now);
  }
  started_due_ = true;
}

void RecvConnection::note_path(const wire::RxPacket& packet, const wire::DataHeader& header) {
  if (header.path >= paths_.size()) paths_.resize(header.path + std::size_t{1});
  PathSeen& path = paths_[header.path];
  if (packet.ecn == Ecn::kCe) {
    counters_.add(Counter::kCeMarksReceived);
    if (path.ce_marks < 255) ++path.ce_marks;
  }
  if (!path.on_packet(header)) return;
  path.changed = true;
  path.echo = header.sent_at;
  path.arrived_at = packet.arrived_at;
}

void RecvConnection::on_data(Time now, const wire::RxPacket& packet, const wire::DataPacket& data,
                             std::vector<Placement>& placements) {
  if (!started_) {
    counters_.add(Counter::kDroppedUnexpected);
    return;
  }
  const std::size_t placed_before = placements.size();
  const auto receipt = queue_.on_data(data.header, data.payload, placements);
  if (receipt == RecvQueue::Receipt::kOutOfWindow) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  note_progress(now);
  credits_.on_data(now, grant_, data.header.window_epoch, data.header.message_bytes);
  note_path(packet, data.header);
  // Not the path the data came on: its way back may be dead, and only the sender knows which is
  // not.
  reply_path_ = static_cast<wire::PathIndex>(data.header.reply_path % config_.paths);
  switch (receipt) {
    case RecvQueue::Receipt::kKept:
      counters_.add(Counter::kUnpostedKept);
      [[fallthrough]];
    case RecvQueue::Receipt::kPlaced:
      counters_.add(Counter::kPacketsReceived);
      for (std::size_t i = placed_before; i < placements.size(); ++i)
        counters_.add(Counter::kBytesReceived, placements[i].payload.size());
      break;
    case RecvQueue::Receipt::kDuplicate:
      counters_.add(Counter::kDuplicates);
      ++duplicates_;
      break;
    case RecvQueue::Receipt::kRepeated:
      counters_.add(Counter::kDuplicates);
      break;
    case RecvQueue::Receipt::kLate:
      counters_.add(Counter::kLatePackets);
      break;
    case RecvQueue::Receipt::kNoRoom:
      counters_.add(Counter::kDroppedUnposted);
      break;
    default:
      check_overflow();
      return;
  }
  const bool ends = data.header.offset + data.payload.size() == data.header.message_bytes;
  ack_clock_.on_data(now, {.message_bytes = data.header.message_bytes,
                           .ends_message = ends,
                           .asked = data.header.asks_ack,
                           .nothing_posted = !queue_.has_posted(),
                           .window = grant_.window});
  decide_losses(placements);
  watch(now);
}

void RecvConnection::on_sent_once(Time now, const wire::SentOnce& frame, wire::PathIndex path,
                                  std::vector<Placement>& placements) {
  heard(now);
  reply_path_ = path;
  if (!started_ || !losses_.on_sent_once(frame)) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  check_overflow();
  decide_losses(placements);
  watch(now);
  ack_clock_.at_once(now);
}

void RecvConnection::on_probe(Time now, const wire::Probe& probe, wire::PathIndex path) {
  answered(now);
  reply_path_ = path;  // the last one's way back may be what is broken
  if (!started_) return;
  // Of several sizes that come together the largest is the one to answer.
  if (!probe_to_answer_ || probe.bytes >= probe_to_answer_->bytes) probe_to_answer_ = probe;
  ack_clock_.at_once(now);
}

void RecvConnection::on_pong(Time now, wire::PathIndex path) {
  answered(now);
  reply_path_ = path;
}

void RecvConnection::on_peer_closed(Time now, std::uint32_t) {
  heard(now);
  peer_closed_ = true;
  ack_clock_.cancel();
  if (queue_.has_posted())
    fail(closed_by_peer("the peer closed the connection while receives were posted"));
}

void RecvConnection::on_reset(const wire::Reset& reset) {
  fail(peer_gave_up(reset));
}

// One placement of that message has been done.
void RecvConnection::on_placed(Time now, std::uint64_t message,
                               std::vector<Placement>& placements) {
  if (!queue_.on_placed(message)) return;
  decide_losses(placements);
  watch(now);
  ack_clock_.at_once(now);
}

// ---- time ----

void RecvConnection::on_refused(Time now) {
  if (liveness_.on_refused(now, kPingFirst)) ping_clock_.hurry(now);
}

Deadlines RecvConnection::deadlines() const {
  Deadlines deadlines;
  if (failed()) return deadlines;
  deadlines.set(Timer::kPeer, liveness_.deadline());
  deadlines.set(Timer::kProbe, ping_clock_.next_timeout());
  deadlines.set(Timer::kAck, ack_clock_.due());
  deadlines.set(Timer::kCredit, CreditPool::reclaim_at(grant_));
  return deadlines;
}

void RecvConnection::on_timeout(Time now) {
  if (failed()) return;
  if (deadlines().due(Timer::kCredit, now)) credits_.reclaim(grant_);
  ping_clock_.on_timeout(now, ping_terms());
  if (liveness_.standing(now) == Liveness::Standing::kAlive) return;
  if (liveness_.standing(now) == Liveness::Standing::kGone) return fail(peer_gone());
  counters_.add(Counter::kPeerTimeouts);
  fail(peer_silent("has been silent", config_.peer_timeout, "a receive was posted"));
}

// ---- to the network ----

std::size_t RecvConnection::frame_bytes_max() const {
  return std::min(wire::kControlFrameBytesMax, config_.datagram_bytes_max);
}

bool RecvConnection::build_ack(Time now) {
  const auto completed = static_cast<std::uint32_t>(queue_.completed());
  if (completed != ack_.completed) credits_.on_message_end(grant_);
  credits_.refresh(grant_);
  ack_.clear();
  ack_.destination = sender_token_;
  ack_.completed = completed;
  ack_.posted = static_cast<std::uint32_t>(queue_.posted());
  ack_.window_packets = grant_.window;
  ack_.window_epoch = grant_.epoch;
  ack_.answers_probe = probe_to_answer_.has_value();
  ack_.probe_echo = probe_to_answer_ ? probe_to_answer_->echo : 0;
  probe_to_answer_.reset();
  ack_.duplicates = duplicates_;
  ack_.sent = wire::wire_time(now);
  constexpr std::size_t kPathReportsMax = 32;
  bool complete = true;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    PathSeen& path = paths_[i];
    if (!path.changed && path.ce_marks == 0) continue;
    if (ack_.paths.size() == kPathReportsMax) {
      complete = false;
      break;
    }
    const auto held = std::max(now - path.arrived_at, Duration::zero()).count() >> 7;
    ack_.paths.push_back({static_cast<std::uint8_t>(i), path.ce_marks,
                          static_cast<std::uint32_t>(path.highest_sequence), path.echo,
                          static_cast<std::uint32_t>(held)});
    path.changed = false;
    path.ce_marks = 0;
  }
  queue_.report(ack_, frame_bytes_max() - wire::encoded_bytes(ack_));
  counters_.add(Counter::kAcksSent);
  return complete;
}

std::size_t RecvConnection::poll_transmit(Time now, FrameWriter& frames,
                                          std::span<wire::TxPacket> out) {
  if (failed()) return 0;
  std::size_t count = 0;
  if (welcome_due_ && count < out.size()) {
    frames.emit(*welcome_due_, reply_path_, sender_, out[count++]);
    welcome_due_.reset();
  }
  if (started_due_ && count < out.size()) {
    wire::Started started{sender_token_, static_cast<std::uint32_t>(queue_.posted()),
                          grant_.reserve, grant_.epoch};
    frames.emit(started, reply_path_, sender_, out[count++]);
    started_due_ = false;
  }
  for (; ping_clock_.due() > 0 && count < out.size(); ping_clock_.on_sent()) {
    frames.emit(wire::Ping{sender_token_}, reply_path_, sender_, out[count++]);
    reply_path_ = static_cast<wire::PathIndex>((reply_path_ + 1u) % config_.paths);
  }
  count += losses_.poll_transmit({sender_token_, &sender_}, reply_path_, frame_bytes_max(), frames,
                                 out.subspan(count));
  if (ack_clock_.due() <= now && count < out.size()) {
    ack_clock_.on_sent(now, build_ack(now));
    frames.emit(ack_, reply_path_, sender_, out[count++]);
  }
  return count;
}

}  // namespace dlcp::core
