#include "core/streams/send_queue.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/config.h"
#include "util/check.h"
#include "wire/serial.h"

namespace dlcp::core {

namespace {

// At least eight chunks. Longer groups give longer bursts of one class. Shorter groups stay in the
// processor's cache between judging and sending.
constexpr std::uint32_t kGroupBytes = 512 << 10;
// Messages of at most kShortMessageBytes may be sent early up to kShortTimes eager_bytes.
constexpr std::size_t kShortTimes = 16;
// Exact messages that are sent beyond the oldest that has not arrived. An acknowledgement has room
// to report that many, and what it does not report counts as lost.
constexpr std::uint64_t kReported = 64;

}  // namespace

void SendQueue::push(RequestId request, std::span<const std::byte> message, const Licence* licence,
                     const compression::MessageCoding& coding, bool copied) {
  SendMessage& added = messages_.push_back({});
  added.request = request;
  added.posted = end_message() - 1 < posted_;
  added.bytes = message;
  added.coding = coding;
  added.copied = copied;
  added.chunk_bytes = coding.used() ? coding.chunk_bytes : payload_bytes_;
  const std::size_t chunks = (message.size() + added.chunk_bytes - 1) / added.chunk_bytes;
  added.chunks = static_cast<std::uint32_t>(std::max<std::size_t>(chunks, 1));
  added.acked.reset(added.chunks);
  added.lost.reset(added.chunks);
  if (licence == nullptr) return;
  added.licensed = added.forgoes = true;
  added.licence = *licence;
  added.droppable.reset(added.chunks);
  added.middle.reset(added.chunks);
  added.first.reset(added.chunks);
  added.then.reset(added.chunks);
}

std::size_t SendQueue::chunk_bytes(const SendMessage& message, std::uint32_t chunk) {
  const std::size_t offset = std::size_t{chunk} * message.chunk_bytes;
  return std::min<std::size_t>(message.chunk_bytes, message.bytes.size() - offset);
}

// The chunk that a licensed message is sent from. It varies pseudorandomly from message to message.
std::uint32_t SendQueue::start_of(std::uint64_t number, std::uint32_t chunks) {
  return static_cast<std::uint32_t>((number * 0x9e37'79b9'7f4a'7c15u >> 32) % chunks);
}

// Not sent before its receive is posted.
bool SendQueue::is_long(const SendMessage& message) const {
  return message.bytes.size() >= waits_from_ && !message.coding.used();
}

bool SendQueue::is_held() const {
  return contains(next_new_message_) && next_new_message_ >= posted_ &&
         is_long(at(next_new_message_));
}

bool SendQueue::new_allowed() const {
  if (!contains(next_new_message_)) return false;
  // The receiver has no room for messages that are further ahead of its posted receives. Messages
  // that it has kept count too, although they are complete here.
  if (next_new_message_ >= posted_ + requests_max_) return false;
  const SendMessage& message = at(next_new_message_);
  if (next_new_message_ >= first_ + kReported && !message.licensed) return false;
  if (next_new_message_ < posted_) return true;
  if (is_long(message)) return false;
  if (eager_sent_bytes_ == 0) return true;
  return eager_sent_bytes_ + chunk_bytes(message, message.next_new) <= early_bytes(message);
}

// How much may be sent before a receive is known to be posted. A peer whose process waits for a
// processor posts many receives of short messages at once, and the sender must not wait for each.
std::size_t SendQueue::early_bytes(const SendMessage& message) const {
  return message.bytes.size() <= kShortMessageBytes ? kShortTimes * eager_bytes_ : eager_bytes_;
}

// Judges the next chunks of a licensed message. The receiver keeps the beginning of a message
// without a posted receive; such a message is therefore sent from its beginning and in order.
void SendQueue::make_group(SendMessage& message, bool posted) {
  if (message.next_new == 0)
    message.start = posted ? start_of(next_new_message_, message.chunks) : 0;
  message.group = message.group_end;
  message.group_end = std::min(message.group + kGroupBytes / message.chunk_bytes, message.chunks);
  const bool direct = message.licence.shape == LossShape::kDirect;
  for (std::uint32_t place = message.group; place < message.group_end; ++place) {
    const std::uint32_t chunk = message.chunk_at(place);
    const auto payload = view({next_new_message_, chunk}).payload;
    const gradient::Worth worth =
        direct ? judge_.judge_within(message.licence.hop_share(), message.licence.element, payload)
               : judge_.judge(message.licence.element, payload);
    const bool droppable = worth != gradient::Worth::kProtected;
    if (droppable) message.droppable.set(chunk);
    if (worth == gradient::Worth::kMiddle) message.middle.set(chunk);
    (droppable && posted ? message.then : message.first).set(place);
  }
}

std::optional<ChunkRef> SendQueue::next() {
  if (has_lost()) {
    for (std::uint64_t number = first_; number < end_message(); ++number) {
      const SendMessage& message = at(number);
      if (message.lost_count == 0 || !message.retransmits()) continue;
      return ChunkRef{number, static_cast<std::uint32_t>(message.lost.next_set(0))};
    }
  }
  if (!new_allowed()) return std::nullopt;
  SendMessage& message = at(next_new_message_);
  if (!message.licensed) return ChunkRef{next_new_message_, message.next_new};
  if (message.next_new == message.group_end) make_group(message, next_new_message_ < posted_);
  std::size_t place = message.first.next_set(message.group);
  if (place == message.chunks) place = message.then.next_set(message.group);
  return ChunkRef{next_new_message_, message.chunk_at(static_cast<std::uint32_t>(place))};
}

TrafficClass SendQueue::class_of(ChunkRef chunk) const {
  return at(chunk.message).class_of(chunk.chunk);
}

LicensedEnd SendQueue::ended_by(std::uint64_t number) const {
  if (!contains(number) || !at(number).all_sent()) return LicensedEnd::kNothing;
  if (!new_allowed()) return LicensedEnd::kEverything;
  const SendMessage& next = at(next_new_message_);
  const bool follows = next.licensed && next.licence.urgent == at(number).licence.urgent;
  return follows ? LicensedEnd::kMessage : LicensedEnd::kEverything;
}

bool SendQueue::has_chunk(ChunkRef chunk) const {
  return contains(chunk.message) && chunk.chunk < at(chunk.message).chunks;
}

std::size_t SendQueue::run_length(const ChunkRef& chunk) const {
  const SendMessage& message = at(chunk.message);
  if (has_lost() || message.licensed || message.coding.used()) return 1;
  const std::size_t chunks = message.chunks - chunk.chunk;
  const std::size_t bytes = message.bytes.size() - std::size_t{chunk.chunk} * message.chunk_bytes;
  const std::size_t early = early_bytes(message);
  if (chunk.message < posted_ || eager_sent_bytes_ + bytes <= early) return chunks;
  const std::size_t room = early - std::min(eager_sent_bytes_, early);
  return std::max<std::size_t>(room / message.chunk_bytes, 1);
}

std::span<const std::byte> SendQueue::mark_run_sent(const ChunkRef& first, std::size_t chunks) {
  SendMessage& message = at(first.message);
  const std::size_t begin = std::size_t{first.chunk} * message.chunk_bytes;
  message.next_new += static_cast<std::uint32_t>(chunks);
  if (first.message >= posted_)
    eager_sent_bytes_ += std::min(chunks * message.chunk_bytes, message.bytes.size() - begin);
  if (message.next_new == message.chunks) ++next_new_message_;
  return message.bytes;
}

// Writes field by field, because a copy of a struct that was just written so would have to wait.
void SendQueue::mark_sent(const ChunkRef& chunk, SentChunk& sent) {
  SendMessage& message = at(chunk.message);
  const std::size_t offset = std::size_t{chunk.chunk} * message.chunk_bytes;
  sent.data = message.bytes.data() + offset;
  sent.bytes = chunk_bytes(message, chunk.chunk);
  sent.offset = static_cast<std::uint32_t>(offset);
  sent.message_bytes = static_cast<std::uint32_t>(message.bytes.size());
  sent.traffic_class = message.class_of(chunk.chunk);
  sent.licensed = message.forgoes;
  sent.again = message.was_sent(chunk.chunk);
  sent.coding.chunk_bytes = message.coding.chunk_bytes;
  sent.coding.format = message.coding.format;
  if (sent.again) {
    message.lost.clear(chunk.chunk);
    check(message.lost_count > 0 && lost_total_ > 0, "only a lost chunk is sent again");
    --message.lost_count;
    --lost_total_;
    return;
  }
  if (message.licensed) {
    message.first.clear(message.place_of(chunk.chunk));
    message.then.clear(message.place_of(chunk.chunk));
  }
  ++message.next_new;
  if (chunk.message >= posted_) {
    // An empty message counts too, so that their number is limited like other data.
    eager_sent_bytes_ += std::max<std::size_t>(sent.bytes, 1);
  }
  if (message.next_new == message.chunks) ++next_new_message_;
}

void SendQueue::mark_lost(ChunkRef chunk) {
  const Bitmap* const acked = acked_of(chunk);
  if (acked == nullptr || acked->test(chunk.chunk)) return;
  SendMessage& message = at(chunk.message);
  if (!message.lost.set(chunk.chunk)) return;
  ++message.lost_count;
  if (message.retransmits()) ++lost_total_;
}

void SendQueue::need(std::uint64_t number) {
  if (!forgoes(number)) return;
  SendMessage& message = at(number);
  message.forgoes = false;
  if (message.retransmits()) lost_total_ += message.lost_count;
}

void SendQueue::stop(std::uint64_t number, Acked& result) {
  if (!forgoes(number) || !at(number).all_sent()) return;
  acknowledge_prefix(at(number), at(number).chunks, result);
  finish(at(number));
  pop_finished();
}

ChunkView SendQueue::view(const SendMessage& message, std::uint32_t chunk) {
  const std::size_t offset = std::size_t{chunk} * message.chunk_bytes;
  return {message.bytes.subspan(offset, chunk_bytes(message, chunk)),
          static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(message.bytes.size())};
}

const Bitmap* SendQueue::acked_of(const ChunkRef& chunk) const {
  return chunk.message < first_ ? nullptr : &at(chunk.message).acked;
}

ChunkView SendQueue::view(ChunkRef chunk) const {
  return view(at(chunk.message), chunk.chunk);
}

bool SendQueue::set_posted(std::uint64_t posted) {
  if (posted <= posted_) return false;
  for (std::uint64_t number = std::max(posted_, first_); number < std::min(posted, end_message());
       ++number) {
    at(number).posted = true;
    if (at(number).retransmits()) lost_total_ += at(number).lost_count;
  }
  posted_ = posted;
  eager_sent_bytes_ = 0;
  for (std::uint64_t number = std::max(posted_, first_); number < end_message(); ++number) {
    const SendMessage& message = at(number);
    if (message.next_new == 0) break;
    const std::size_t sent = std::size_t{message.next_new} * message.chunk_bytes;
    eager_sent_bytes_ += std::max<std::size_t>(std::min(sent, message.bytes.size()), 1);
  }
  return true;
}

// A mask of the sent chunks among those of one bitmap word.
std::uint64_t SendQueue::sent_mask(const SendMessage& message, std::size_t word) {
  if (message.next_new == message.chunks) return ~std::uint64_t{0};
  std::uint64_t mask = 0;
  for (std::size_t bit = 0; bit < Bitmap::kWordBits; ++bit) {
    const std::size_t chunk = word * Bitmap::kWordBits + bit;
    if (chunk < message.chunks && message.was_sent(static_cast<std::uint32_t>(chunk)))
      mask |= std::uint64_t{1} << bit;
  }
  return mask;
}

void SendQueue::merge(SendMessage& message, std::size_t word, std::uint64_t mask, Acked& result) {
  // Chunks that were never sent cannot have arrived.
  if (message.licensed) {
    mask &= sent_mask(message, word);
  } else {
    const std::size_t base = word * Bitmap::kWordBits;
    if (base >= message.next_new) return;
    if (message.next_new - base < Bitmap::kWordBits)
      mask &= (std::uint64_t{1} << (message.next_new - base)) - 1;
  }
  const std::uint64_t fresh = message.acked.merge(word, mask);
  if (fresh == 0) return;
  const std::uint64_t spurious = fresh & message.lost.word(word);
  message.lost.clear_mask(word, spurious);
  const auto spurious_count = static_cast<std::uint32_t>(std::popcount(spurious));
  const auto fresh_count = static_cast<std::uint32_t>(std::popcount(fresh));
  check(spurious_count <= message.lost_count,
        "only a chunk declared lost can be found to have arrived");
  message.lost_count -= spurious_count;
  message.acked_count += fresh_count;
  if (!message.retransmits()) {
    result.late += spurious_count;
  } else {
    check(spurious_count <= lost_total_, "the queue counts the lost chunks of all its messages");
    lost_total_ -= spurious_count;
    result.spurious += spurious_count;
  }
  result.in_flight += fresh_count - spurious_count;
}

void SendQueue::acknowledge_prefix(SendMessage& message, std::uint32_t chunks, Acked& result) {
  chunks = std::min(chunks, message.chunks);
  for (std::size_t bit = message.acked.next_clear(0); bit < chunks;) {
    const std::size_t word = bit / Bitmap::kWordBits;
    const std::size_t left = chunks - word * Bitmap::kWordBits;
    const std::uint64_t mask =
        left >= Bitmap::kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    merge(message, word, mask, result);
    bit = message.acked.next_clear((word + 1) * Bitmap::kWordBits);
  }
}

void SendQueue::finish(SendMessage& message) {
  if (message.reported || !message.arrived()) return;
  message.reported = true;
  message.forgoes = false;
  done_.push_back({message.request, message.bytes});
}

bool SendQueue::acknowledge_below(std::uint64_t completed, Acked& result) {
  if (completed > next_new_message_) return false;
  while (first_ < completed) {
    SendMessage& message = messages_.front();
    acknowledge_prefix(message, message.chunks, result);
    finish(message);
    messages_.pop_front();
    ++first_;
  }
  return true;
}

bool SendQueue::acknowledge(const wire::StreamReport& stream, Acked& result) {
  const std::uint64_t completed = wire::expand_serial(stream.completed, first_);
  if (completed > next_new_message_ && completed - first_ < std::uint64_t{1} << 31) return false;
  if (completed > first_ && completed <= next_new_message_) acknowledge_below(completed, result);

  std::size_t words_at = 0;
  for (const wire::MessageReport& report : stream.messages) {
    const std::size_t words_begin = words_at;
    words_at += report.bitmap_words;
    const std::uint64_t number = wire::expand_serial(report.message, first_);
    if (!contains(number)) continue;  // an old ACK: the message is complete
    SendMessage& message = at(number);
    acknowledge_prefix(message, report.first_missing, result);
    const std::size_t first_word = report.first_missing / Bitmap::kWordBits;
    for (std::size_t i = 0; i < report.bitmap_words; ++i) {
      if (first_word + i >= message.acked.word_count()) break;
      merge(message, first_word + i, stream.bitmap[words_begin + i], result);
    }
    // After a report that the message is closing, only a report that it is complete ends it: an
    // older one may arrive late.
    message.closing = message.closing || report.closing;
    const bool complete = !report.closing && report.first_missing >= message.chunks;
    if (!message.closing || complete) finish(message);
  }
  pop_finished();
  return true;
}

std::uint32_t SendQueue::in_flight() const {
  std::uint32_t packets = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const SendMessage& message = messages_[i];
    packets += message.next_new - message.acked_count - message.lost_count;
  }
  return packets;
}

bool SendQueue::next_is_urgent() const {
  if (!new_allowed()) return false;
  const SendMessage& message = at(next_new_message_);
  return message.licensed && message.licence.urgent;
}

void SendQueue::pop_finished() {
  while (!messages_.empty() && messages_.front().reported) {
    messages_.pop_front();
    ++first_;
  }
}

std::optional<SendQueue::Done> SendQueue::pop_done() {
  if (done_.empty()) return std::nullopt;
  const Done done = done_.front();
  done_.pop_front();
  return done;
}

}  // namespace dlcp::core
