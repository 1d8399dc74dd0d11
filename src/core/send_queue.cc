#include "core/send_queue.h"

#include <algorithm>
#include <bit>

#include "wire/serial.h"

namespace dlcp::core {

void SendQueue::push(RequestId request, std::span<const std::byte> message) {
  Message& added = messages_.push_back({});
  added.request = request;
  added.bytes = message;
  const std::size_t chunks = (message.size() + payload_bytes_ - 1) / payload_bytes_;
  added.chunks = static_cast<std::uint32_t>(std::max<std::size_t>(chunks, 1));
  added.acked.reset(added.chunks);
  added.lost.reset(added.chunks);
}

std::size_t SendQueue::chunk_bytes(const Message& message, std::uint32_t chunk) const {
  const std::size_t offset = std::size_t{chunk} * payload_bytes_;
  return std::min<std::size_t>(payload_bytes_, message.bytes.size() - offset);
}

std::optional<ChunkRef> SendQueue::next() const {
  if (lost_total_ > 0) {
    for (std::uint64_t number = first_; number < end_message(); ++number) {
      const Message& message = at(number);
      if (message.lost_count == 0) continue;
      return ChunkRef{number, static_cast<std::uint32_t>(message.lost.next_set(0))};
    }
  }
  if (!contains(next_new_message_)) return std::nullopt;
  const Message& message = at(next_new_message_);
  const ChunkRef chunk{next_new_message_, message.next_new};
  if (next_new_message_ >= posted_ && eager_sent_bytes_ > 0 &&
      eager_sent_bytes_ + chunk_bytes(message, chunk.chunk) > eager_bytes_) {
    return std::nullopt;
  }
  return chunk;
}

void SendQueue::mark_sent(ChunkRef chunk) {
  Message& message = at(chunk.message);
  if (chunk.chunk < message.next_new) {
    message.lost.clear(chunk.chunk);
    --message.lost_count;
    --lost_total_;
    return;
  }
  ++message.next_new;
  if (chunk.message >= posted_) {
    // An empty message counts too, so that a stream of them is bounded like any other.
    eager_sent_bytes_ += std::max<std::size_t>(chunk_bytes(message, chunk.chunk), 1);
  }
  if (message.next_new == message.chunks) ++next_new_message_;
}

void SendQueue::mark_lost(ChunkRef chunk) {
  if (is_acked(chunk)) return;
  Message& message = at(chunk.message);
  if (!message.lost.set(chunk.chunk)) return;
  ++message.lost_count;
  ++lost_total_;
}

ChunkView SendQueue::view(ChunkRef chunk) const {
  const Message& message = at(chunk.message);
  const std::size_t offset = std::size_t{chunk.chunk} * payload_bytes_;
  return {message.bytes.subspan(offset, chunk_bytes(message, chunk.chunk)),
          static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(message.bytes.size())};
}

bool SendQueue::is_acked(ChunkRef chunk) const {
  if (chunk.message < first_) return true;
  return at(chunk.message).acked.test(chunk.chunk);
}

void SendQueue::set_posted(std::uint64_t posted) {
  if (posted <= posted_) return;
  posted_ = posted;
  eager_sent_bytes_ = 0;
  for (std::uint64_t number = std::max(posted_, first_); number < end_message(); ++number) {
    const Message& message = at(number);
    if (message.next_new == 0) break;
    const std::size_t sent = std::size_t{message.next_new} * payload_bytes_;
    eager_sent_bytes_ += std::max<std::size_t>(std::min(sent, message.bytes.size()), 1);
  }
}

void SendQueue::merge(Message& message, std::size_t word, std::uint64_t mask, Acked& result) {
  // Chunks that were never sent cannot have arrived.
  const std::size_t base = word * Bitmap::kWordBits;
  if (base >= message.next_new) return;
  if (message.next_new - base < Bitmap::kWordBits) {
    mask &= (std::uint64_t{1} << (message.next_new - base)) - 1;
  }
  const std::uint64_t fresh = message.acked.merge(word, mask);
  if (fresh == 0) return;
  const std::uint64_t spurious = fresh & message.lost.word(word);
  message.lost.clear_mask(word, spurious);
  const auto spurious_count = static_cast<std::uint32_t>(std::popcount(spurious));
  const auto fresh_count = static_cast<std::uint32_t>(std::popcount(fresh));
  message.lost_count -= spurious_count;
  lost_total_ -= spurious_count;
  message.acked_count += fresh_count;
  result.spurious += spurious_count;
  result.in_flight += fresh_count - spurious_count;
}

void SendQueue::acknowledge_prefix(Message& message, std::uint32_t chunks, Acked& result) {
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

void SendQueue::settle(Message& message) {
  if (message.reported || message.acked_count < message.chunks) return;
  message.reported = true;
  done_.push_back({message.request, message.bytes.size()});
}

bool SendQueue::acknowledge_below(std::uint64_t completed, Acked& result) {
  if (completed > next_new_message_) return false;
  while (first_ < completed) {
    Message& message = messages_.front();
    acknowledge_prefix(message, message.chunks, result);
    settle(message);
    messages_.pop_front();
    ++first_;
  }
  return true;
}

bool SendQueue::acknowledge(const wire::Ack& ack, Acked& result) {
  const std::uint64_t completed = wire::expand_serial(ack.completed, first_);
  if (completed > next_new_message_ && completed - first_ < std::uint64_t{1} << 31) return false;
  if (completed > first_ && completed <= next_new_message_) acknowledge_below(completed, result);

  std::size_t words_at = 0;
  for (const wire::MessageReport& report : ack.messages) {
    const std::size_t words_begin = words_at;
    words_at += report.bitmap_words;
    const std::uint64_t number = wire::expand_serial(report.message, first_);
    if (!contains(number)) continue;  // an old ACK: that message is done
    Message& message = at(number);
    acknowledge_prefix(message, report.first_missing, result);
    const std::size_t first_word = report.first_missing / Bitmap::kWordBits;
    for (std::size_t i = 0; i < report.bitmap_words; ++i) {
      if (first_word + i >= message.acked.word_count()) break;
      merge(message, first_word + i, ack.bitmap[words_begin + i], result);
    }
    settle(message);
  }
  while (!messages_.empty() && messages_.front().reported) {
    messages_.pop_front();
    ++first_;
  }
  return true;
}

std::optional<SendQueue::Done> SendQueue::pop_done() {
  if (done_.empty()) return std::nullopt;
  const Done done = done_.front();
  done_.pop_front();
  return done;
}

}  // namespace dlcp::core
