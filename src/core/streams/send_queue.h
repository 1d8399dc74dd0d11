// The messages that a sender has not completed: which chunks are unsent, lost or acknowledged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/endpoint_types.h"
#include "core/streams/send_message.h"
#include "dlcp/traffic_class.h"
#include "gradient/chunk_judge.h"
#include "util/memory/ring_queue.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class SendQueue {
 public:
  SendQueue(std::size_t requests_max, std::size_t eager_bytes,
            gradient::ChunkJudge judge = gradient::ChunkJudge())
      : requests_max_(requests_max), eager_bytes_(eager_bytes), judge_(judge) {}

  void set_payload_bytes(std::uint32_t bytes) { payload_bytes_ = bytes; }
  // Messages of that many bytes or more are not sent before their receive is posted.
  void wait_for_receive_from(std::size_t bytes) { waits_from_ = bytes; }
  bool full() const { return messages_.size() >= requests_max_; }
  bool empty() const { return messages_.empty(); }
  // Adds a message: licensed, or exact and possibly compressed.
  void push(RequestId request, std::span<const std::byte> message, const Licence* licence = nullptr,
            const compression::MessageCoding& coding = {}, bool copied = false);

  // The next chunk to send: lost chunks first, then new ones in order. At most eager_bytes (but at
  // least one packet) are sent before a receive is known to be posted.
  std::optional<ChunkRef> next();
  bool has_lost() const { return lost_total_ > 0; }
  bool has_next() const { return has_lost() || new_allowed(); }
  bool is_held() const;  // the next message is long and waits for its receive
  // The class of a chunk that next() returned, by its payload and layer.
  TrafficClass class_of(ChunkRef chunk) const;
  // How many new chunks of an exact, uncompressed message can be sent in order from `chunk` on,
  // which next() returned, without asking again: at least 1.
  std::size_t run_length(const ChunkRef& chunk) const;
  // Marks them as sent and returns the message; marks one as sent and describes it in `sent`.
  std::span<const std::byte> mark_run_sent(const ChunkRef& first, std::size_t chunks);
  void mark_sent(const ChunkRef& chunk, SentChunk& sent);
  void mark_lost(ChunkRef chunk);
  ChunkView view(ChunkRef chunk) const;
  // Which chunks of its message have arrived; null: all. Valid until a post or a completion.
  const Bitmap* acked_of(const ChunkRef& chunk) const;
  bool has_chunk(ChunkRef chunk) const;
  bool contains(std::uint64_t message) const { return message - first_ < messages_.size(); }
  // Whether the packet that was just sent is the last new one of this message.
  LicensedEnd ended_by(std::uint64_t message) const;
  // True while losses of the message are not retransmitted: until it is complete or need()ed.
  bool forgoes(std::uint64_t message) const { return contains(message) && at(message).forgoes; }
  bool retransmits(std::uint64_t of) const { return contains(of) && at(of).retransmits(); }
  bool has_licence(std::uint64_t number) const { return contains(number) && at(number).licensed; }
  std::size_t message_bytes(std::uint64_t message) const { return at(message).bytes.size(); }
  bool is_copied(std::uint64_t message) const { return at(message).copied; }
  const Licence& licence(std::uint64_t message) const { return at(message).licence; }
  void need(std::uint64_t message);  // from now on it is handled like an exact message

  // The number of receives that the peer has posted, which never decreases. True if it is new.
  bool set_posted(std::uint64_t posted);
  // The peer has a buffer for the oldest incomplete message.
  bool is_posted() const { return first_ < posted_ && !empty(); }
  bool is_posted(std::uint64_t message) const { return message < posted_; }

  struct Acked {
    std::uint32_t in_flight = 0;  // newly acknowledged chunks that were in flight
    std::uint32_t spurious = 0;   // chunks that counted as lost, and were not
    std::uint32_t late = 0;       // the same of licensed messages: late, or given up
  };
  // False: the report is invalid, because it names messages that were never sent.
  bool acknowledge(const wire::StreamReport& report, Acked& result);
  bool acknowledge_below(std::uint64_t completed, Acked& result);  // all those are delivered
  // The receiver completes this licensed message without its missing data.
  void stop(std::uint64_t message, Acked& result);

  std::uint32_t in_flight() const;  // packets that are neither acknowledged nor lost
  bool next_is_urgent() const;      // the next new chunk belongs to an urgent layer
  // The oldest message has arrived, but the receiver has not completed it yet.
  bool awaits_end() const { return !empty() && messages_.front().arrived(); }
  struct Done {
    RequestId request = 0;
    std::span<const std::byte> memory;
  };
  std::optional<Done> pop_done();

  std::uint64_t first_message() const { return first_; }
  std::uint64_t end_message() const { return first_ + messages_.size(); }

 private:
  SendMessage& at(std::uint64_t number) { return messages_[number - first_]; }
  const SendMessage& at(std::uint64_t number) const { return messages_[number - first_]; }
  static std::size_t chunk_bytes(const SendMessage& message, std::uint32_t chunk);
  static ChunkView view(const SendMessage& message, std::uint32_t chunk);
  void merge(SendMessage& message, std::size_t word, std::uint64_t mask, Acked& result);
  void acknowledge_prefix(SendMessage& message, std::uint32_t chunks, Acked& result);
  bool new_allowed() const;
  bool is_long(const SendMessage& message) const;
  std::size_t early_bytes(const SendMessage& message) const;
  void make_group(SendMessage& message, bool posted);
  static std::uint32_t start_of(std::uint64_t number, std::uint32_t chunks);
  static std::uint64_t sent_mask(const SendMessage& message, std::size_t word);
  void finish(SendMessage& message);
  void pop_finished();

  std::size_t requests_max_, eager_bytes_, waits_from_ = ~std::size_t{0};
  std::uint64_t first_ = 0;                          // number of messages_.front()
  std::uint64_t posted_ = 0, next_new_message_ = 0;  // below: have a receive; have no unsent chunk
  std::size_t eager_sent_bytes_ = 0;                 // of messages without a posted receive
  std::uint32_t payload_bytes_ = 0, lost_total_ = 0;
  gradient::ChunkJudge judge_;
  RingQueue<SendMessage> messages_;
  RingQueue<Done> done_;
};

}  // namespace dlcp::core
