#include "core/streams/recv_queue.h"

#include <algorithm>

#include "util/check.h"
#include "wire/serial.h"

namespace dlcp::core {
namespace {

// A licensed packet that was sent only once and arrives late is not a spurious retransmission.
bool may_be_given_up(const wire::DataHeader& header) {
  return header.licensed && !header.retransmission;
}

}  // namespace

RecvQueue::~RecvQueue() {
  pool_.bytes_used -= kept_bytes_;
}

bool RecvQueue::make_room(RecvMessage& message) {
  const std::size_t size = std::min<std::size_t>(
      message.bytes, std::max<std::size_t>(eager_bytes_, message.chunk_bytes));
  if (message.early.size() == size) return true;
  if (pool_.bytes_used + kept_bytes_ + size > pool_.bytes_max) return false;
  message.early.resize(size);
  pool_.bytes_used += size;
  kept_bytes_ += size;
  return true;
}

RecvMessage& RecvQueue::reach(std::uint64_t number) {
  while (messages_.size() <= number - first_)
    messages_.push_back({});
  return at(number);
}

bool RecvQueue::fits(const RecvMessage& message) {
  if (message.bytes <= message.buffer.size()) return true;
  overflow_ = Overflow{message.bytes, message.buffer.size()};
  return false;
}

Receipt RecvQueue::on_data(const wire::DataHeader& header, std::span<const std::byte> payload,
                           std::vector<Placement>& placements) {
  const std::uint64_t number = wire::expand_serial(header.message, first_);
  if (number - first_ >= std::uint64_t{1} << 63)  // below first_
    return may_be_given_up(header) ? Receipt::kLate : Receipt::kDuplicate;
  // A sender has at most as many open messages as receives can be posted.
  if (number - first_ >= 2 * requests_max_) return Receipt::kOutOfWindow;
  const std::uint32_t chunk_size =
      header.coding.used() ? header.coding.chunk_bytes : payload_bytes_;
  const std::uint32_t chunk = header.offset / chunk_size;
  const std::uint32_t begin = header.offset % chunk_size;
  const std::size_t left =
      std::size_t{header.message_bytes} - std::min(header.message_bytes, header.offset - begin);
  const std::size_t expected = std::min<std::size_t>(chunk_size, left);
  // The last packet of a message may be padded to the size of the others.
  if (begin == 0 && payload.size() == chunk_size) payload = payload.first(expected);
  const bool whole = begin == 0 && payload.size() == expected &&
                     (expected > 0 || (header.offset == 0 && header.message_bytes == 0));
  if (!whole && !is_piece(begin, begin + payload.size(), expected)) return Receipt::kOutOfWindow;

  RecvMessage& message = reach(number);
  if (!message.started && !message.start(header.message_bytes, chunk_size))
    return Receipt::kOutOfWindow;
  if ((message.bytes != header.message_bytes && !message.resize(header.message_bytes)) ||
      message.chunk_bytes != chunk_size || chunk >= message.chunks)
    return Receipt::kOutOfWindow;
  if (message.present.test(chunk)) {
    if (may_be_given_up(header)) return Receipt::kLate;
    return whole ? Receipt::kDuplicate : Receipt::kRepeated;
  }
  const bool posted = message.posted;
  std::byte* base = message.buffer.data();
  if (posted) {
    if (!fits(message)) return Receipt::kTooLong;
  } else {
    if (!make_room(message) || header.offset + payload.size() > message.early.size()) {
      message.dropped_here = true;
      return Receipt::kNoRoom;
    }
    base = message.early.data();
  }
  if (!whole || (message.partial && message.partial->contains(chunk))) {
    const Piece piece{chunk, begin, static_cast<std::uint32_t>(expected), payload};
    const std::size_t placed_before = placements.size();
    const auto receipt = on_piece(message, piece, base + header.offset, placements);
    if (message.placed_later) note_placements(number, std::span(placements).subspan(placed_before));
    if (receipt) return *receipt;
  } else if (!payload.empty()) {
    // Written field by field: a copy in larger units would have to wait for all earlier stores,
    // among them the copy of payload to memory that is not in the cache.
    Placement& placement = placements.emplace_back();
    placement.destination = base + header.offset;
    placement.payload = payload;
    if (message.placed_later) note_placements(number, {&placement, 1});
  }
  message.present.set(chunk);
  note_arrived(number, chunk);
  return posted ? Receipt::kPlaced : Receipt::kKept;
}

bool RecvQueue::on_run(const wire::DataHeader& first, std::span<const wire::RxPacket> packets,
                       std::vector<Placement>& placements) {
  const std::uint64_t number = wire::expand_serial(first.message, first_);
  if (number - first_ >= messages_.size()) return false;
  RecvMessage& message = at(number);
  if (!message.posted || message.placed_later || message.partial != nullptr) return false;
  const std::size_t bytes = packets.front().bytes.size() - wire::kDataHeaderBytes;
  const std::size_t end = first.offset + packets.size() * bytes;
  if (bytes != payload_bytes_ || first.offset % bytes != 0 || end > first.message_bytes ||
      first.message_bytes > message.buffer.size())
    return false;
  if (!message.started && !message.start(first.message_bytes, payload_bytes_)) return false;
  if (message.bytes != first.message_bytes || message.chunk_bytes != bytes) return false;
  const std::size_t chunk = first.offset / bytes;
  if (!message.present.set_run(chunk, packets.size())) return false;
  const std::size_t before = placements.size();
  placements.resize(before + packets.size());
  std::byte* destination = message.buffer.data() + first.offset;
  for (std::size_t i = 0; i < packets.size(); ++i, destination += bytes) {
    placements[before + i].destination = destination;
    placements[before + i].payload = packets[i].bytes.subspan(wire::kDataHeaderBytes);
  }
  note_arrived(number, static_cast<std::uint32_t>(chunk + packets.size() - 1),
               static_cast<std::uint32_t>(packets.size()));
  return true;
}

// `count` chunks up to `last` are new.
void RecvQueue::note_arrived(std::uint64_t number, std::uint32_t last, std::uint32_t count) {
  RecvMessage& message = at(number);
  message.received += count;
  message.highest = std::max(message.highest, last);
  if (message.card_may_write && message.whole())
    close(number);
  else if (message.complete())
    report_done();
}

// Handles a packet with a part of a chunk: requests copies of the new parts. Returns what the
// packet is, unless its chunk is complete now.
[[gnu::cold]] std::optional<Receipt> RecvQueue::on_piece(RecvMessage& message, const Piece& piece,
                                                         std::byte* destination,
                                                         std::vector<Placement>& placements) {
  const auto end = piece.begin + static_cast<std::uint32_t>(piece.payload.size());
  if (!message.partial) message.partial = std::make_unique<PartialChunks>();
  const auto fresh = message.partial->add(piece.chunk, piece.chunk_bytes, piece.begin, end);
  for (const ByteRange& run : fresh) {
    placements.push_back({destination - piece.begin + run.begin,
                          piece.payload.subspan(run.begin - piece.begin, run.end - run.begin), 0});
  }
  if (fresh.empty()) return Receipt::kRepeated;
  if (!message.partial->whole(piece.chunk))
    return message.posted ? Receipt::kPlaced : Receipt::kKept;
  message.partial->erase(piece.chunk);
  return std::nullopt;
}

// Names placements that go to a posted buffer and may take a while.
[[gnu::cold]] void RecvQueue::note_placements(std::uint64_t number,
                                              std::span<Placement> placements) {
  for (Placement& placement : placements)
    placement.name = {owner_, number};
  at(number).placing += static_cast<std::uint32_t>(placements.size());
}

bool RecvQueue::on_placed(std::uint64_t number) {
  if (number < first_ || number - first_ >= messages_.size()) return false;
  RecvMessage& message = at(number);
  check(message.placing > 0, "only data that waits for placement can be placed");
  if (--message.placing > 0) return false;
  if (message.complete()) report_done();
  return true;
}

// ---- placed messages ----

Receipt RecvQueue::on_placed_chunk(std::uint64_t number, std::uint32_t chunk,
                                   std::optional<std::uint32_t> last_bytes) {
  RecvMessage& message = at(number);
  if (!message.started) message.start_with_buffer(payload_bytes_);
  if (chunk >= message.chunks) return Receipt::kOutOfWindow;
  if (last_bytes) {
    const std::uint32_t bytes = chunk * message.chunk_bytes + *last_bytes;
    if (*last_bytes == 0 || bytes > message.buffer.size()) return Receipt::kOutOfWindow;
    if (bytes != message.bytes && !message.resize(bytes)) return Receipt::kOutOfWindow;
    message.provisional = false;
  }
  if (!message.present.set(chunk)) return Receipt::kDuplicate;
  note_arrived(number, chunk);
  return Receipt::kPlaced;
}

void RecvQueue::end_permits(std::uint64_t number) {
  check(at(number).card_may_write, "only permissions that were given can end");
  at(number).card_may_write = false;
  if (at(number).complete()) report_done();
}

Early RecvQueue::post(RequestId request, std::span<std::byte> buffer, PlacementBatch& placements,
                      bool placed_later) {
  const std::uint64_t number = posted_++;
  RecvMessage& message = reach(number);
  message.posted = true;
  message.placed_later = placed_later;
  message.request = request;
  message.buffer = buffer;
  if (!message.started) return Early::kNothing;
  if (!fits(message)) return Early::kAll;
  const std::size_t placed_before = placements.wanted.size();
  const Early early = message.whole() ? Early::kAll : Early::kPart;
  if (!message.early.empty()) hand_over_early(message, placements);
  if (placed_later) note_placements(number, std::span(placements.wanted).subspan(placed_before));
  if (message.complete()) report_done();
  return early;
}

// Requests copies of the kept bytes of the message to its buffer.
void RecvQueue::hand_over_early(RecvMessage& message, PlacementBatch& placements) {
  const auto hand_over = [&](std::size_t from, std::size_t to) {
    placements.wanted.push_back(
        {message.buffer.data() + from, std::span(message.early).subspan(from, to - from), 0});
  };
  // A run of adjacent chunks becomes one copy.
  for (std::size_t begin = message.present.next_set(0); begin < message.chunks;) {
    const std::size_t end = message.present.next_clear(begin);
    hand_over(begin * message.chunk_bytes,
              std::min<std::size_t>(end * message.chunk_bytes, message.bytes));
    begin = message.present.next_set(end);
  }
  if (message.partial) {
    message.partial->for_each([&](std::uint32_t chunk) {
      const std::size_t at = std::size_t{chunk} * message.chunk_bytes;
      for (const auto& run : message.partial->present(chunk, chunk_bytes(message, chunk)))
        hand_over(at + run.begin, at + run.end);
    });
  }
  pool_.bytes_used -= message.early.size();
  kept_bytes_ -= message.early.size();
  placements.memory.push_back(std::move(message.early));
  message.early = {};
}

std::uint32_t RecvQueue::chunk_bytes(const RecvMessage& message, std::uint32_t chunk) {
  return std::min(message.chunk_bytes, message.bytes - chunk * message.chunk_bytes);
}

RecvQueue::Expected RecvQueue::expect(std::uint32_t message_number, std::uint32_t bytes) {
  const std::uint64_t number = wire::expand_serial(message_number, first_);
  if (number - first_ >= std::uint64_t{1} << 63) return {true, std::nullopt};  // complete long ago
  if (number - first_ >= 2 * requests_max_) return {};
  RecvMessage& message = reach(number);
  if (!message.start(bytes, payload_bytes_)) return {};
  if ((message.posted && !fits(message)) || message.whole()) return {true, std::nullopt};
  return {true, number};
}

// Calls `fill(begin, end)` with the missing bytes of each run of missing chunks, and then
// `hole(begin, end)` with these chunks. In chunks that arrived in part only the missing bytes
// count: no byte is written twice.
template <class Fill, class Hole>
void RecvQueue::for_each_hole(const RecvMessage& message, const Fill& fill,
                              const Hole& hole) const {
  for (std::size_t begin = message.present.next_clear(0); begin < message.chunks;) {
    const std::size_t end = message.present.next_set(begin);
    std::size_t from = begin * message.chunk_bytes;
    for (std::size_t chunk = begin; message.partial && chunk < end; ++chunk) {
      const auto number = static_cast<std::uint32_t>(chunk);
      if (!message.partial->contains(number)) continue;
      const std::size_t at = chunk * message.chunk_bytes;
      fill(from, at);
      const std::uint32_t size = chunk_bytes(message, number);
      for (const auto& run : message.partial->missing(number, size))
        fill(at + run.begin, at + run.end);
      from = at + size;
    }
    fill(from, std::min<std::size_t>(end * message.chunk_bytes, message.bytes));
    hole(begin, end);
    begin = message.present.next_clear(end);
  }
}

std::size_t RecvQueue::missing_bytes(std::uint64_t number) const {
  std::size_t bytes = 0;
  for_each_hole(
      at(number), [&](std::size_t from, std::size_t to) { bytes += to - from; },
      [](std::size_t, std::size_t) {});
  return bytes;
}

[[gnu::cold]] std::vector<wire::Hole> RecvQueue::complete_with_holes(
    std::uint64_t number, std::vector<Placement>& placements) {
  RecvMessage& message = at(number);
  std::vector<wire::Hole> holes;
  const auto fill = [&](std::size_t from, std::size_t to) {
    if (from == to) return;
    placements.push_back({message.buffer.data() + from, {}, to - from});
    message.lost_bytes += static_cast<std::uint32_t>(to - from);
    message.holes.push_back({from, to});
  };
  const auto hole = [&](std::size_t begin, std::size_t end) {
    holes.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
    for (std::size_t chunk = begin; chunk < end; ++chunk)
      message.present.set(chunk);  // late packets then count as duplicates
  };
  const std::size_t placed_before = placements.size();
  for_each_hole(message, fill, hole);
  if (message.placed_later) note_placements(number, std::span(placements).subspan(placed_before));
  message.received = message.chunks;
  report_done();
  return holes;
}

// Reports complete messages, in any order, and removes those at the front.
void RecvQueue::report_done() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    RecvMessage& message = messages_[i];
    if (!message.complete() || !message.posted || message.reported) continue;
    message.reported = true;
    done_.push_back({message.request, message.bytes, message.lost_bytes, std::move(message.holes)});
  }
  complete_below_ = std::max(complete_below_, first_);
  while (complete_below_ - first_ < messages_.size() && at(complete_below_).complete())
    ++complete_below_;
  while (!messages_.empty() && messages_.front().reported) {
    messages_.pop_front();
    ++first_;
  }
}

// Data that is sent between the receive and its permissions would be copied.
std::uint64_t RecvQueue::announced() const {
  for (std::uint64_t number = std::max(first_, complete_below_); number < posted_; ++number)
    if (at(number).undecided && !at(number).whole()) return number;
  return posted_;
}

bool RecvQueue::announce_all() {
  const bool waits = announced() < posted_;
  for (std::size_t i = 0; waits && i < messages_.size(); ++i)
    messages_[i].undecided = false;
  return waits;
}

bool RecvQueue::under_way() const {
  for (std::uint64_t number = complete_below_; number - first_ < messages_.size(); ++number)
    if (at(number).started && !at(number).complete()) return true;
  return false;
}

std::optional<ReceiveDone> RecvQueue::pop_done() {
  if (done_.empty()) return std::nullopt;
  std::optional<ReceiveDone> done = std::move(done_.front());
  done_.pop_front();
  return done;
}

void RecvQueue::report(wire::StreamReport& stream, std::size_t bytes) {
  for (std::uint64_t number = complete_below_; number - first_ < messages_.size(); ++number) {
    RecvMessage& message = at(number);
    if (!message.started || message.received == 0) continue;
    if (bytes < wire::kMessageReportBytes) return;
    bytes -= wire::kMessageReportBytes;
    wire::MessageReport& report = stream.messages.emplace_back();
    report.message = static_cast<std::uint32_t>(number);
    report.closing = message.closing();
    message.first_missing =
        static_cast<std::uint32_t>(message.present.next_clear(message.first_missing));
    report.first_missing = message.first_missing;
    if (report.first_missing > message.highest) continue;  // no hole: nothing beyond first_missing
    const std::size_t begin = report.first_missing / Bitmap::kWordBits;
    const std::size_t end = message.highest / Bitmap::kWordBits + 1;
    for (std::size_t word = begin; word < end && bytes >= 8; ++word, bytes -= 8) {
      stream.bitmap.push_back(message.present.word(word));
      ++report.bitmap_words;
    }
  }
}

}  // namespace dlcp::core
