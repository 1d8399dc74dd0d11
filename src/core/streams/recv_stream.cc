#include "core/streams/recv_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/coding/coded_piece.h"
#include "core/liveness/peer_errors.h"

namespace dlcp::core {

RecvStream::RecvStream(Time now, const Config& config, Counters& counters, UnpostedPool& pool,
                       std::uint64_t token, const wire::Hello& hello, RecvAssociation& association)
    : Stream(config, counters, token, hello.stream),
      sender_token_(hello.sender_token),
      membership_(hello.membership),
      association_(association.shared_from_this()),
      queue_(config.requests_max, config.eager_bytes, pool, token),
      losses_(queue_, counters) {
  association_->join(*this);
  liveness_.expect(now, Liveness::Owes::kWord);
}

void RecvStream::note_progress(Time now) {
  liveness_.on_heard(now);
  association_->pings().on_heard(now);
}

// A sign of life is expected while a receive is posted, or while the stream waits for accept().
// Only the sender knows whether it has data to send, so no more can be expected.
void RecvStream::watch(Time now) {
  liveness_.expect(now, waits() || !started_ ? Liveness::Owes::kWord : Liveness::Owes::kNothing);
  if (waits()) association_->pings().run(now);
  if (started_) association_->note(*this);
}

void RecvStream::on_accepted() {
  accepted_ = true;
  if (!waits()) liveness_.expect({}, Liveness::Owes::kNothing);
}

void RecvStream::check_overflow() {
  if (!queue_.overflow()) return;
  fail({ErrorCode::kInvalidUsage,
        fmt::format("a message of {} bytes arrived for a receive of {} bytes",
                    queue_.overflow()->message_bytes, queue_.overflow()->buffer_bytes),
        "post receives at least as large as the peer's sends"});
}

// Decides about messages with holes in the same call, so that nothing changes in between. Messages
// whose packets are accounted for are revoked.
void RecvStream::decide_losses(std::vector<Placement>& placements) {
  for (bool ended = true; std::exchange(ended, false);) {
    if (losses_.awaits())
      losses_.decide(association_->paths(), config_.licence_bytes_min, placements);
    if (!queue_.has_closing()) return;
    for (const std::uint64_t message : queue_.take_closing()) {
      if (!association_->placing()->revoke(*this, message)) continue;
      queue_.end_permits(message);
      ended = true;
    }
  }
}

bool RecvStream::permit(std::uint64_t first) {
  RecvPlacing* placing = association_->placing();
  if (placing == nullptr || !placing->connected() || !started_ || failed()) return true;
  bool all = true;
  for (std::uint64_t number = first; number < queue_.posted(); ++number) {
    if (!queue_.is_open(number)) continue;
    const RecvMessage& message = queue_.message(number);
    const bool is_short = message.buffer.size() < config_.placed_bytes_min;
    if (is_short || message.whole() || message.card_may_write || losses_.is_granted(number))
      continue;
    if (placing->permit(*this, number, number_, message.buffer, association_->payload_bytes()))
      queue_.permit(number);
    else
      all = false;
  }
  return all;
}

void RecvStream::post(Time now, RequestId request, std::span<std::byte> buffer,
                      const Licence& licence, MemoryKind kind, PlacementBatch& placements) {
  const std::uint64_t number = queue_.posted();
  const Early early = queue_.post(request, buffer, placements, kind == MemoryKind::kDevice);
  losses_.on_posted(number, licence, buffer.size());
  const bool permitted = permit(number);
  decide_losses(placements.wanted);
  check_overflow();
  watch(now);
  if (!queue_.has_posted()) return;
  if (peer_closed_)
    return fail(
        closed_by_peer("the peer has closed the connection before this receive was posted"));
  if (early == Early::kPart || !permitted) return association_->report(now, *this, AckBy::kNow);
  // A message that cannot be sent whole before its receive is known would have to wait for it.
  const bool is_ahead = early == Early::kNothing && buffer.size() <= config_.eager_bytes &&
                        association_->placing() == nullptr;
  association_->report(now, *this, is_ahead ? AckBy::kWithOthers : AckBy::kSoon);
}

// ---- from the network ----

void RecvStream::on_hello(const wire::Hello& hello, const AnswerWay& way,
                          std::span<const wire::EndpointAddress> other_lanes) {
  openings_.on_frame(way.path);
  if (!started_) number_ = hello.stream;  // the sender may have started again
  wire::Welcome welcome = association_->welcome(hello, token_);
  if (joined_) {
    welcome.payload_bytes = association_->payload_bytes();
    welcome.posted = static_cast<std::uint32_t>(queue_.posted());
  }
  welcome.lanes.assign(other_lanes.begin(), other_lanes.end());
  // If HELLOs of several sizes arrive together, only the largest is answered.
  auto& due = welcomes_due_[way.unmarked ? 1 : 0];
  if (due) welcome.hello_bytes = std::max(welcome.hello_bytes, due->hello_bytes);
  due = std::move(welcome);
}

void RecvStream::start(Time now, std::uint32_t payload_bytes) {
  started_ = true;
  queue_.set_payload_bytes(payload_bytes);
  association_->establish(payload_bytes);
  watch(now);
}

void RecvStream::join(Time now, std::uint32_t stream) {
  number_ = stream;
  joined_ = true;
  start(now, association_->payload_bytes());
}

void RecvStream::on_start(Time now, const wire::Start& start_frame, wire::PathIndex path) {
  note_progress(now);
  watch(now);
  openings_.on_frame(path);
  const bool sound = start_frame.payload_bytes >= wire::kPayloadGranuleBytes &&
                     start_frame.payload_bytes % wire::kPayloadGranuleBytes == 0 &&
                     start_frame.payload_bytes <= config_.datagram_bytes_max &&
                     start_frame.protection == association_->channel().protection();
  if (!sound) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  if (!started_) start(now, start_frame.payload_bytes);
  started_due_ = true;
}

// on_run() counts what is placed.
void RecvStream::count(Receipt receipt) {
  switch (receipt) {
    case Receipt::kKept:
      return counters_.add(Counter::kUnpostedKept);
    case Receipt::kDuplicate:
      association_->on_duplicate();
      [[fallthrough]];
    case Receipt::kRepeated:
      return counters_.add(Counter::kDuplicates);
    case Receipt::kLate:
      return counters_.add(Counter::kLatePackets);
    case Receipt::kNoRoom:
      return counters_.add(Counter::kDroppedUnposted);
    case Receipt::kOutOfWindow:
      return counters_.add(Counter::kDroppedOutOfWindow);
    case Receipt::kPlaced:
    case Receipt::kTooLong:
      return;
  }
}

void RecvStream::on_data(const wire::RxPacket& packet, const wire::DataPacket& data, DataRun& run) {
  if (!started_) return counters_.add(Counter::kDroppedUnexpected);
  std::span<const std::byte> payload = data.payload;
  if (data.header.coding.used()) {
    const auto plain = decode_piece(data.header.coding, payload, association_->plain());
    if (!plain) return counters_.add(Counter::kDroppedUndecodable);
    payload = *plain;
    run.ends = true;  // the next packet is decoded to the same memory
  }
  const auto receipt = queue_.on_data(data.header, payload, run.placements);
  const bool fresh = receipt == Receipt::kPlaced || receipt == Receipt::kKept;
  if (fresh) ++run.fresh;
  // Its placement refers to memory of this stream, which a later packet of the run might end.
  if (receipt == Receipt::kKept) run.ends = true;
  if (receipt != Receipt::kPlaced) count(receipt);
  if (receipt == Receipt::kOutOfWindow) return;
  association_->note_path(packet, data.header);
  run.add(data.header, payload.size());
  if (receipt != Receipt::kTooLong) return;
  check_overflow();
  run.ends = true;
}

std::size_t RecvStream::on_data_run(std::span<const wire::RxPacket> packets,
                                    const wire::DataHeader& first, DataRun& run) {
  if (!started_ || packets.empty() || first.offset > first.message_bytes) return 0;
  // Without the last packet of the message if it is padded.
  const std::size_t most = (first.message_bytes - first.offset) / association_->payload_bytes();
  packets = packets.first(std::min(packets.size(), most));
  if (packets.empty() || !queue_.on_run(first, packets, run.placements)) return 0;
  const auto count = static_cast<std::uint32_t>(packets.size());
  const auto bytes = static_cast<std::uint32_t>(run.placements.back().payload.size());
  run.fresh += count;
  wire::DataHeader last = first;
  last.path_sequence += count - 1;
  last.offset += (count - 1) * bytes;
  association_->note_path(packets.back(), last, count);
  run.add(last, bytes, count);
  return count;
}

void RecvStream::on_run(Time now, const DataRun& run) {
  std::size_t bytes = 0;
  for (const Placement& placement : run.placements)
    bytes += placement.payload.size();
  counters_.add(Counter::kPacketsReceived, run.fresh);
  counters_.add(Counter::kBytesReceived, bytes);
  counters_.add(Counter::kBytesCopied, bytes);
  note_progress(now);
  association_->on_run(now, *this, run);
  decide_losses(run.placements);
  watch(now);
}

void RecvStream::on_sent_once(Time now, const wire::SentOnce& frame, wire::PathIndex path,
                              std::vector<Placement>& placements) {
  note_progress(now);
  watch(now);
  association_->reply_on(path);
  if (!started_ || !losses_.on_sent_once(frame)) {
    counters_.add(Counter::kDroppedOutOfWindow);
    return;
  }
  check_overflow();
  decide_losses(placements);
  watch(now);
  association_->report(now, *this, AckBy::kNow);
}

// A sender that has closed the stream may have forgotten it before it is accepted here.
void RecvStream::on_unknown() {
  if (!peer_closed_) fail(peer_forgot());
}

void RecvStream::on_peer_closed(Time now, std::uint32_t) {
  note_progress(now);
  watch(now);
  peer_closed_ = true;
  reports_left = 0;
  if (queue_.has_posted())
    fail(closed_by_peer("the peer closed the connection while receives were posted"));
}

void RecvStream::on_placed(Time now, std::uint64_t message, std::vector<Placement>& placements) {
  if (!queue_.on_placed(message)) return;
  decide_losses(placements);
  watch(now);
  association_->report(now, *this, AckBy::kNow);
}

void RecvStream::on_placed_run(Time now, const wire::PlacedRun& placed, const RecvPlacing::Use& use,
                               std::vector<Placement>& placements) {
  DataRun run{.placements = placements, .packets = placed.packets};
  const std::uint32_t whole = association_->payload_bytes();
  std::uint32_t left = placed.bytes;
  for (std::uint32_t i = 0; i < placed.packets; ++i) {
    const auto name = wire::PlacedName::unpack(placed.name + i);
    const std::uint32_t bytes = std::min(left, whole);
    left -= bytes;
    run.asks_ack |= name.asks_ack;
    run.ends_message |= name.ends_message;
    const auto receipt =
        queue_.on_placed_chunk(use.message, use.first_chunk + name.chunk,
                               name.ends_message ? std::optional(bytes) : std::nullopt);
    if (receipt == Receipt::kPlaced) ++run.fresh;
    counters_.add(receipt == Receipt::kPlaced      ? Counter::kBytesReceived
                  : receipt == Receipt::kDuplicate ? Counter::kDuplicates
                                                   : Counter::kDroppedOutOfWindow,
                  receipt == Receipt::kPlaced ? bytes : 1);
  }
  run.message_bytes = queue_.message(use.message).bytes;
  association_->note_placed(placed, run);
  on_run(now, run);
}

void RecvStream::on_permit(Time now, const RecvPlacing::Outcome& outcome,
                           std::vector<Placement>& placements) {
  const std::uint64_t message = outcome.use.message;
  // PERMITS alone tells the sender that a receive is posted if one permission covers it.
  if (outcome.all_decided && queue_.decide_permits(message))
    association_->report(now, *this,
                         outcome.ended || outcome.left > 1 ? AckBy::kNow : AckBy::kSoon);
  if (!outcome.ended || outcome.left > 0) return;
  queue_.end_permits(message);
  decide_losses(placements);
  watch(now);
  association_->report(now, *this, AckBy::kNow);
}

// ---- time ----

// A frame for any stream is a sign of life. Until this one has started, only its own frames count.
void RecvStream::hear_association() {
  if (started_) liveness_.on_heard(association_->pings().heard_at());
}

void RecvStream::on_pause(Time now, Duration length) {
  hear_association();
  liveness_.on_pause(now, length);
}

void RecvStream::on_refused(Time now) {
  hear_association();
  PingClock& pings = association_->pings();
  if (liveness_.on_refused(now, pings.answer_time())) pings.doubt(now);
}

void RecvStream::on_timeout(Time now) {
  if (failed()) return;
  hear_association();
  if (liveness_.standing(now) == Liveness::Standing::kAlive) return;
  counters_.add(Counter::kPeerTimeouts);
  if (liveness_.standing(now) == Liveness::Standing::kGone) return fail(peer_gone());
  fail(peer_silent(Silence::kNoWord, config_.peer_timeout, "a receive was posted"));
}

// ---- to the network ----

void RecvStream::report(wire::StreamReport& report, std::size_t bytes) {
  report.stream = number_;
  report.completed = static_cast<std::uint32_t>(queue_.completed());
  report.posted = static_cast<std::uint32_t>(queue_.announced());
  queue_.report(report, bytes);
}

std::size_t RecvStream::write_loss_frames(FrameWriter& frames, std::span<wire::TxPacket> out) {
  return losses_.poll_transmit({sender_token_, &association_->sender()},
                               association_->answer_path(), frames, out);
}

bool RecvStream::take_message_end() {
  return std::exchange(ended_, queue_.completed()) != queue_.completed();
}

std::size_t RecvStream::poll_transmit(FrameWriter& frames, std::span<wire::TxPacket> out) {
  if (failed()) return 0;
  std::size_t count = 0;
  const wire::EndpointAddress& sender = association_->sender();
  if (welcomes_due_[0] || welcomes_due_[1] || started_due_)
    association_->reply_on(openings_.next(config_.paths));
  for (auto& due : welcomes_due_) {
    if (!due || count == out.size()) continue;
    frames.emit(*due, association_->answer_path().path, sender, out[count]);
    out[count++].unmarked = &due != &welcomes_due_.front();
    due.reset();
  }
  if (started_due_ && count < out.size()) {
    const Grant& grant = association_->grant();
    wire::Started started{sender_token_, static_cast<std::uint32_t>(queue_.posted()), grant.reserve,
                          grant.epoch};
    frames.emit(started, association_->answer_path().path, sender, out[count++]);
    started_due_ = false;
  }
  return count;
}

}  // namespace dlcp::core
