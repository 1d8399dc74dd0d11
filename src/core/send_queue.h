// The messages a sender still owes: which chunks were never sent, are lost, or are acknowledged.
// Knows nothing of time, paths or windows; send_connection asks it what to send next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/endpoint.h"
#include "util/bitmap.h"
#include "util/ring_queue.h"
#include "wire/control_frame.h"

namespace dlcp::core {

// Chunk c of a message is its bytes [c * payload_bytes, ...); an empty message has one empty chunk.
struct ChunkRef {
  std::uint64_t message = 0;
  std::uint32_t chunk = 0;
};

struct ChunkView {
  std::span<const std::byte> payload;
  std::uint32_t offset = 0;
  std::uint32_t message_bytes = 0;
};

class SendQueue {
 public:
  SendQueue(std::size_t requests_max, std::size_t eager_bytes)
      : requests_max_(requests_max), eager_bytes_(eager_bytes) {}

  void set_payload_bytes(std::uint32_t bytes) { payload_bytes_ = bytes; }

  bool full() const { return messages_.size() >= requests_max_; }
  bool empty() const { return messages_.empty(); }
  void push(RequestId request, std::span<const std::byte> message);

  // The next chunk to put on the wire: lost ones first, then new ones in order. A message whose
  // receive is not known to be posted gets at most eager_bytes ahead (but always one packet).
  std::optional<ChunkRef> next() const;
  void mark_sent(ChunkRef chunk);
  void mark_lost(ChunkRef chunk);
  ChunkView view(ChunkRef chunk) const;
  bool is_acked(ChunkRef chunk) const;
  bool was_sent(ChunkRef chunk) const { return chunk.chunk < at(chunk.message).next_new; }

  // Receives posted so far, as the peer last said; never goes back.
  void set_posted(std::uint64_t posted);

  struct Acked {
    std::uint32_t in_flight = 0;  // chunks newly acknowledged that were in flight
    std::uint32_t spurious = 0;   // chunks that had been declared lost, and were not
  };
  // False when the report names messages that were never sent: the frame is a stranger's.
  bool acknowledge(const wire::Ack& ack, Acked& result);
  // All messages below `completed` are delivered.
  bool acknowledge_below(std::uint64_t completed, Acked& result);

  struct Done {
    RequestId request = 0;
    std::size_t bytes = 0;
  };
  std::optional<Done> pop_done();

  std::uint64_t first_message() const { return first_; }
  std::uint64_t end_message() const { return first_ + messages_.size(); }

 private:
  struct Message {
    RequestId request = 0;
    std::span<const std::byte> bytes;
    std::uint32_t chunks = 0;
    std::uint32_t next_new = 0;  // chunks below were sent at least once
    std::uint32_t acked_count = 0;
    std::uint32_t lost_count = 0;
    bool reported = false;
    Bitmap acked;
    Bitmap lost;
  };

  Message& at(std::uint64_t number) { return messages_[number - first_]; }
  const Message& at(std::uint64_t number) const { return messages_[number - first_]; }
  bool contains(std::uint64_t number) const { return number - first_ < messages_.size(); }
  std::size_t chunk_bytes(const Message& message, std::uint32_t chunk) const;
  void merge(Message& message, std::size_t word, std::uint64_t mask, Acked& result);
  void acknowledge_prefix(Message& message, std::uint32_t chunks, Acked& result);
  void settle(Message& message);

  std::size_t requests_max_;
  std::size_t eager_bytes_;
  std::uint32_t payload_bytes_ = 0;
  std::uint64_t first_ = 0;  // number of messages_.front()
  std::uint64_t posted_ = 0;
  std::uint64_t next_new_message_ = 0;  // messages below have no unsent chunk
  std::size_t eager_sent_bytes_ = 0;    // sent of messages that are not known to be posted
  std::uint32_t lost_total_ = 0;
  RingQueue<Message> messages_;
  RingQueue<Done> done_;
};

}  // namespace dlcp::core
