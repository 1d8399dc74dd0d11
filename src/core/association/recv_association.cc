#include "core/association/recv_association.h"

#include <algorithm>
#include <utility>

#include "core/packet_size/packet_size.h"
#include "core/streams/recv_stream.h"
#include "wire/data/send_time.h"

namespace dlcp::core {
namespace {

constexpr unsigned kReportTimes = 2;
constexpr std::size_t kAnswersMax = 4;  // to PROBEs that arrive together
// A frame with less room left is closed, and the next frame begins with the stream that did not
// fit.
constexpr std::size_t kStreamRoomLeast =
    wire::kStreamReportBytes + wire::kMessageReportBytes + sizeof(std::uint64_t);

}  // namespace

RecvAssociation::RecvAssociation(const Config& config, Counters& counters, CreditPool& credits,
                                 Channel channel, const Open& open)
    : config_(config),
      counters_(counters),
      credits_(credits),
      channel_(std::move(channel)),
      open_(open),
      pings_(config.peer_timeout) {}

// ---- streams ----

void RecvAssociation::join(RecvStream& stream) {
  if (streams_.empty() && payload_bytes_ != 0) credits_.join(grant_, payload_bytes_);
  streams_.push_back(&stream);
  expires_at_ = kNever;
}

void RecvAssociation::place_with(Card& card, LinkTable& links) {
  placing_ = std::make_unique<RecvPlacing>(card, links, open_.token);
}

bool RecvAssociation::on_link(Time now, const wire::Link& frame) {
  if (!placing_ || !placing_->on_link(now, open_.sender, frame)) return false;
  for (RecvStream* stream : streams_)
    stream->permit(stream->completed());
  return true;
}

void RecvAssociation::leave(const RecvStream& stream) {
  if (placing_) placing_->leave(stream);
  std::erase(streams_, &stream);
  std::erase(busy_, &stream);
  posted_ -= stream.counts_as_posted ? 1 : 0;
}

void RecvAssociation::on_left(Time now, Duration keep) {
  if (!streams_.empty()) return;
  credits_.leave(grant_);
  ack_clock_.cancel();
  answers_.clear();
  expires_at_ = payload_bytes_ == 0 ? now : now + keep;
}

wire::Welcome RecvAssociation::welcome(const wire::Hello& hello, std::uint64_t token) const {
  wire::Welcome welcome;
  welcome.destination = hello.sender_token;
  welcome.receiver_token = token;
  welcome.datagram_bytes_max = static_cast<std::uint32_t>(config_.datagram_bytes_max);
  welcome.hello_bytes = hello.hello_bytes;
  welcome.echo = hello.echo;
  welcome.protection = channel_.protection();
  welcome.association = open_.token;
  welcome.key_stream = open_.key_stream;
  welcome.window_packets = grant_.reserve;
  return welcome;
}

void RecvAssociation::establish(std::uint32_t payload_bytes) {
  if (payload_bytes == payload_bytes_) return;
  credits_.leave(grant_);
  payload_bytes_ = payload_bytes;
  credits_.join(grant_, payload_bytes_);
}

// No larger than data packets, because the path may carry no more.
std::size_t RecvAssociation::frame_bytes_max() const {
  const std::size_t most = std::min(wire::kControlFrameBytesMax, config_.datagram_bytes_max);
  return payload_bytes_ == 0 ? most : std::min(most, payload_bytes_ + wire::kDataHeaderBytes);
}

// ---- from the network and from streams ----

void RecvAssociation::note_path(const wire::RxPacket& packet, const wire::DataHeader& header,
                                unsigned count) {
  if (header.path >= paths_.size()) paths_.resize(header.path + std::size_t{1});
  PathSeen& path = paths_[header.path];
  if (packet.ecn == Ecn::kCe) {
    counters_.add(Counter::kCeMarksReceived, count);
    path.ce_marks = static_cast<std::uint8_t>(std::min(path.ce_marks + count, 255u));
  }
  if (!path.on_packet(header)) return;
  path.changed = true;
  path.echo = header.sent_at;
  path.arrived_at = packet.arrived_at;
}

// Placed packets do not tell the window that they were sent under, nor a path for answers. They
// occupy no buffer either.
void RecvAssociation::note_placed(const wire::PlacedRun& placed, DataRun& run) {
  placing_->note(placed);
  run.window_epoch = grant_.epoch;
  run.reply_path = reply_path_;
}

void RecvAssociation::on_run(Time now, RecvStream& stream, const DataRun& run) {
  probes_.restart();
  credits_.on_data(now, grant_, run.window_epoch, run.message_bytes);
  // Not the path of the data: its reverse direction may be broken. Only the sender knows a path on
  // which answers arrive.
  reply_path_ = static_cast<wire::PathIndex>(run.reply_path % config_.paths);
  note(stream, kReportTimes);
  ack_clock_.on_data(now, {.packets = run.packets,
                           .message_bytes = run.message_bytes,
                           .copied = run.copied,
                           .ends_message = run.ends_message,
                           .asked = run.asks_ack,
                           .nothing_posted = posted_ == 0,
                           .window = grant_.window});
}

// The answer reports every stream, because the sender may have lost any earlier acknowledgement.
void RecvAssociation::on_probe(Time now, const wire::Probe& probe, wire::PathIndex path) {
  reply_path_ = path;  // the reverse direction of the previous one may be broken
  probes_.on_frame(path);
  if (payload_bytes_ == 0) return;
  // PROBEs that arrive together get an answer each, because paths may be dead. If they are too
  // many, the largest is among those that get one.
  if (answers_.size() < std::min(kAnswersMax, config_.paths))
    answers_.push_back({probe.echo, probe.bytes, probes_.next(config_.paths)});
  else if (probe.bytes >= answers_.front().bytes)
    answers_.front() = {probe.echo, probe.bytes, answers_.front().path};
  for (RecvStream* stream : streams_)
    if (stream->started()) note(*stream, 1);
  if (placing_) placing_->on_probe();
  pings_.on_heard(now);
  ack_clock_.at_once(now);
}

std::vector<std::uint64_t> RecvAssociation::on_pong(Time now, const wire::Pong& pong,
                                                    wire::PathIndex path) {
  pings_.on_pong(now, wire::from_wire_time(pong.echo, now));
  reply_path_ = path;
  std::vector<std::uint64_t> failed;
  for (RecvStream* stream : streams_) {
    if (std::ranges::find(pong.unknown, stream->number()) == pong.unknown.end()) continue;
    stream->on_unknown();
    failed.push_back(stream->token());
  }
  return failed;
}

void RecvAssociation::note(RecvStream& stream, unsigned reports) {
  stream.reports_left = std::max(stream.reports_left, reports);
  if (stream.counts_as_posted != stream.unfinished()) {
    stream.counts_as_posted = stream.unfinished();
    posted_ += stream.counts_as_posted ? 1 : -1;
  }
  const auto at = std::ranges::lower_bound(busy_, stream.number(), {}, &RecvStream::number);
  if (at == busy_.end() || *at != &stream) busy_.insert(at, &stream);
}

void RecvAssociation::report(Time now, RecvStream& stream, AckBy by) {
  note(stream, kReportTimes);
  ack_clock_.on_report(now, by);
}

// ---- time, and to the network ----

Time RecvAssociation::next_timeout() const {
  return std::min(
      {ack_clock_.due(), CreditPool::reclaim_at(grant_), expires_at_, pings_.next_timeout()});
}

void RecvAssociation::on_timeout(Time now) {
  if (CreditPool::reclaim_at(grant_) <= now) credits_.reclaim(grant_);
  if (pings_.next_timeout() <= now) ping(now);
}

// PING reports the streams that have waited for a while: the sender may have lost the report of a
// posted receive, or may not know the stream any more. Data for other streams shows neither.
void RecvAssociation::ping(Time now) {
  Time since = kNever;
  for (const RecvStream* stream : streams_)
    if (stream->waits()) since = std::min(since, stream->silent_since());
  if (!pings_.on_timeout(now, since)) return;
  for (RecvStream* stream : streams_) {
    if (!stream->waits() || !pings_.reports(now, stream->silent_since())) continue;
    stream->announce_all();
    note(*stream, pings_.due());
  }
  ack_clock_.at_once(now);
}

bool RecvAssociation::report_paths(Time now) {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    PathSeen& path = paths_[i];
    if (!path.changed && path.ce_marks == 0) continue;
    if (ack_.paths.size() == kPathReportsMax) return false;
    ack_.paths.push_back({static_cast<std::uint8_t>(i), path.ce_marks,
                          static_cast<std::uint32_t>(path.highest_sequence), path.echo,
                          held(path.arrived_at, now)});
    path.changed = false;
    path.ce_marks = 0;
  }
  return true;
}

bool RecvAssociation::report_streams() {
  const auto first = std::ranges::lower_bound(busy_, next_report_, {}, &RecvStream::number);
  const auto begin = static_cast<std::size_t>(first - busy_.begin());
  // PING and answers to PROBE must arrive although the path has become narrower since the
  // handshake.
  const bool is_vital = ack_.asks_pong || ack_.answers_probe;
  const std::size_t most = is_vital ? std::size_t{kDatagramLeast} : frame_bytes_max();
  std::size_t used = wire::encoded_bytes(ack_);
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    RecvStream& stream = *busy_[(begin + i) % busy_.size()];
    if (stream.reports_left == 0) continue;
    if (most < used + kStreamRoomLeast || ack_.streams().size() == 255) {
      next_report_ = stream.number();
      return false;
    }
    --stream.reports_left;
    stream.report(ack_.add_stream(), most - used - wire::kStreamReportBytes);
    used = wire::encoded_bytes(ack_);
  }
  return true;
}

bool RecvAssociation::build_ack(Time now) {
  bool ended = false;
  bool under_way = false;
  for (RecvStream* stream : busy_) {
    ended = stream->take_message_end() || ended;
    under_way = under_way || stream->under_way();
  }
  if (ended && !under_way) credits_.on_message_end(grant_);
  credits_.refresh(grant_);
  ack_.clear();
  ack_.asks_pong = pings_.due() > 0;
  ack_.destination = open_.sender_token;
  ack_.window_packets = grant_.window;
  ack_.window_epoch = grant_.epoch;
  ack_.answers_probe = !answers_.empty();
  ack_.probe_echo = answers_.empty() ? 0 : answers_.front().echo;
  ack_.duplicates = duplicates_;
  ack_.sent = wire::wire_time(now);
  const bool all_placed = !placing_ || placing_->report(now, ack_);
  const bool all_paths = report_paths(now) && all_placed;
  const bool all_streams = report_streams();
  std::erase_if(busy_, [](const RecvStream* stream) { return stream->is_idle(); });
  return all_paths && all_streams;
}

// Sends the frame that has just answered the first PROBE also as the answer to the others.
std::size_t RecvAssociation::repeat_for_others(FrameWriter& frames, std::span<wire::TxPacket> out) {
  for (auto& report : ack_.paths)
    report.ce_marks = 0;  // the sender adds them up
  const std::size_t count = std::min(answers_.size() - 1, out.size());
  for (std::size_t i = 0; i < count; ++i) {
    ack_.probe_echo = answers_[i + 1].echo;
    frames.emit(ack_, answers_[i + 1].path, open_.sender, out[i]);
  }
  counters_.add(Counter::kAcksSent, count);
  return count;
}

std::size_t RecvAssociation::poll_transmit(Time now, FrameWriter& frames,
                                           std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  for (RecvStream* stream : busy_)
    count += stream->write_loss_frames(frames, out.subspan(count));
  if (placing_) {
    count += placing_->poll_transmit({open_.sender_token, &open_.sender}, answer_path(),
                                     ack_clock_.due() <= now, frames, out.subspan(count));
  }
  while (ack_clock_.due() <= now && count < out.size()) {
    const wire::PathIndex path = answers_.empty() ? reply_path_ : answers_.front().path;
    const bool complete = build_ack(now);
    if (!complete)  // only the last frame answers: the sender then knows all and judges losses
      ack_.answers_probe = false;
    counters_.add(Counter::kAcksSent);
    if (ack_.asks_pong) counters_.add(Counter::kPingsSent);
    frames.emit(ack_, path, open_.sender, out[count++]);
    if (!answers_.empty()) count += repeat_for_others(frames, out.subspan(count));
    if (complete) answers_.clear();
    if (ack_.asks_pong) {  // perhaps this path is dead
      reply_path_ = answer_path().next();
      if (complete) pings_.on_sent();
    }
    ack_clock_.on_sent(now, complete && pings_.due() == 0);
  }
  return count;
}

}  // namespace dlcp::core
