// One message at its sender: its chunks that were sent, are lost, or are acknowledged, and types
// that describe chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/coder.h"
#include "core/endpoint_types.h"
#include "dlcp/traffic_class.h"
#include "util/memory/bitmap.h"

namespace dlcp::core {

// Chunk c of a message is its bytes [c * chunk_bytes, ...); an empty message has one empty chunk.
struct ChunkRef {
  std::uint64_t message = 0;
  std::uint32_t chunk = 0;
  std::uint32_t stream = 0;  // within the association
};

struct ChunkView {
  std::span<const std::byte> payload;
  std::uint32_t offset = 0;
  std::uint32_t message_bytes = 0;
};

// The description of a chunk in a packet. Its bytes are two fields and not a span, because a span
// would be written through memory, and the processor would wait for that with each packet.
struct SentChunk {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t offset = 0;
  std::uint32_t message_bytes = 0;
  TrafficClass traffic_class = TrafficClass::kExact;
  bool licensed = false;  // retransmitted only on request
  bool again = false;     // a retransmission
  compression::MessageCoding coding;
};

// Whether the packet that was just sent is the last new one of its licensed message.
enum class LicensedEnd : std::uint8_t {
  kNothing,
  kMessage,     // more licensed packets follow in its queue, after which a lost tail is detected
  kEverything,  // nothing follows after which it could be detected
};

struct SendMessage {
  RequestId request = 0;
  std::span<const std::byte> bytes;
  compression::MessageCoding coding;
  std::uint32_t chunk_bytes = 0;  // of each chunk but the last
  std::uint32_t chunks = 0;
  std::uint32_t next_new = 0;  // number of chunks that were sent at least once
  std::uint32_t acked_count = 0;
  std::uint32_t lost_count = 0;
  bool posted = false;  // the receiver has a buffer for it, as far as this end knows
  bool reported = false;
  bool closing = false;  // has arrived, but the receiver's memory may still be written
  bool copied = false;   // MemoryKind::kCopy
  bool licensed = false;
  bool forgoes = false;  // licensed, and not requested as a whole so far
  // Losses are retransmitted. Before the receive is posted, the receiver may have dropped packets
  // for lack of memory, and would drop them again.
  bool retransmits() const { return posted && !forgoes; }
  Bitmap acked;
  Bitmap lost;

  // A licensed message is sent from chunk `start` on, so that no element is always at the end, and
  // in groups: in each group first the protected chunks, then the droppable ones.
  Licence licence;
  std::uint32_t start = 0;
  std::uint32_t group = 0;      // the group's chunks have places [group, group_end)
  std::uint32_t group_end = 0;  // 0: no group has been made yet
  Bitmap first;                 // by place: in the group, and not sent yet
  Bitmap then;                  // the same; sent when `first` is empty
  Bitmap droppable;             // by chunk, of all groups so far
  Bitmap middle;                // of those; urgent layers do not have this level

  bool arrived() const { return acked_count == chunks; }
  // The chunk's place in the order from `start` on.
  std::uint32_t place_of(std::uint32_t chunk) const {
    return chunk >= start ? chunk - start : chunk + chunks - start;
  }
  std::uint32_t chunk_at(std::uint32_t place) const {
    return place < chunks - start ? place + start : place - (chunks - start);
  }
  bool all_sent() const { return next_new == chunks; }
  TrafficClass class_of(std::uint32_t chunk) const {
    if (!forgoes) return TrafficClass::kExact;
    const bool is_droppable = droppable.test(chunk);
    if (licence.urgent)
      return is_droppable ? TrafficClass::kUrgentDroppable : TrafficClass::kUrgentProtected;
    if (middle.test(chunk)) return TrafficClass::kBulkMiddle;
    return is_droppable ? TrafficClass::kBulkDroppable : TrafficClass::kBulkProtected;
  }
  bool was_sent(std::uint32_t chunk) const {
    if (!licensed) return chunk < next_new;
    const std::uint32_t at = place_of(chunk);
    if (at < group || at >= group_end) return at < group;
    return !first.test(at) && !then.test(at);
  }
};

}  // namespace dlcp::core
