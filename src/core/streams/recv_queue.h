// The messages a receiver expects: which chunks are there, and where they go. What comes before its
// receive is posted is kept here (its first eager_bytes, out of a pool shared by the device).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/endpoint_types.h"
#include "core/flow_control/unposted_pool.h"
#include "core/streams/recv_message.h"
#include "util/ring_queue.h"
#include "wire/control_frame.h"
#include "wire/data_header.h"
#include "wire/loss_frame.h"

namespace dlcp::core {

class RecvQueue {
 public:
  // `owner`: the name that placements get which may take a while (Config::placed_later); 0: none
  // do.
  RecvQueue(std::size_t requests_max, std::size_t eager_bytes, UnpostedPool& pool,
            ConnectionId owner = 0)
      : requests_max_(requests_max), eager_bytes_(eager_bytes), pool_(pool), owner_(owner) {}
  ~RecvQueue();
  RecvQueue(const RecvQueue&) = delete;
  RecvQueue& operator=(const RecvQueue&) = delete;

  void set_payload_bytes(std::uint32_t bytes) { payload_bytes_ = bytes; }

  bool can_post() const { return posted_ - first_ < requests_max_; }
  bool has_posted() const { return first_ < posted_; }
  bool under_way() const;  // a packet of a message that is not complete has come
  // Appends the copies that an early message needs. True if its sender may wait with the rest.
  bool post(RequestId request, std::span<std::byte> buffer, std::vector<Placement>& placements);

  enum class Receipt : std::uint8_t {
    kPlaced,       // new: a placement was appended (none for an empty message)
    kKept,         // the same, into memory of ours: its receive is not posted yet
    kDuplicate,    // held already, or its message is complete
    kRepeated,     // the same, of a piece of a chunk: who misses one piece is sent all
    kLate,         // the same, of a licensed message: it may have been given up
    kNoRoom,       // not posted and no room to keep it; the sender will send it again
    kOutOfWindow,  // a message number or offset that cannot be
    kTooLong,      // the message exceeds the posted buffer: the connection cannot go on
  };
  Receipt on_data(const wire::DataHeader& header, std::span<const std::byte> payload,
                  std::vector<Placement>& placements);
  // One placement of the message has been done. True if it was the last that anything waits for.
  bool on_placed(std::uint64_t number);
  // Size of the message that made on_data or post say kTooLong, and of its buffer.
  const std::optional<Overflow>& overflow() const { return overflow_; }
  // The placed bytes of the last call were copied.
  void release_copied() { copied_.clear(); }
  // The same memory, for a caller that outlives this object.
  std::vector<std::vector<std::byte>> take_copied() { return std::exchange(copied_, {}); }

  // A message of so many bytes is under way. Not `possible`: no message can have that number or
  // length. `number`: all of it, of a message that is not complete.
  struct Expected {
    bool possible = false;
    std::optional<std::uint64_t> number;
  };
  Expected expect(std::uint32_t message, std::uint32_t bytes);
  // Not yet told to be done. What is asked below is asked of such messages.
  bool is_open(std::uint64_t number) const { return number >= first_ && !at(number).reported; }
  const RecvMessage& message(std::uint64_t number) const { return at(number); }
  std::size_t missing_bytes(std::uint64_t number) const;
  // A posted message goes without what is missing: those bytes become placements of zeros, and it
  // is done. Returns the chunks that never came.
  std::vector<wire::Hole> complete_with_holes(std::uint64_t number,
                                              std::vector<Placement>& placements);

  struct Done {
    RequestId request = 0;
    std::size_t bytes = 0;
    std::size_t lost = 0;
    std::vector<ByteRange> holes;
  };
  bool has_done() const { return !done_.empty(); }
  std::optional<Done> pop_done();
  std::uint64_t completed() const { return complete_below_; }  // every message below has arrived
  std::uint64_t posted() const { return posted_; }
  // Reports messages that completed() does not cover, within `bytes` of frame space.
  void report(wire::StreamReport& stream, std::size_t bytes);

 private:
  RecvMessage& at(std::uint64_t number) { return messages_[number - first_]; }
  const RecvMessage& at(std::uint64_t number) const { return messages_[number - first_]; }
  bool start(RecvMessage& message, std::uint32_t bytes, std::uint32_t chunk_bytes) const;
  bool make_room(RecvMessage& message);
  static std::uint32_t chunk_bytes(const RecvMessage& message, std::uint32_t chunk);
  void hand_over_early(RecvMessage& message, std::vector<Placement>& placements);
  std::optional<Receipt> on_piece(RecvMessage& message, const Piece& piece, std::byte* destination,
                                  std::vector<Placement>& placements);
  template <class Fill, class Hole>
  void for_each_hole(const RecvMessage& message, const Fill& fill, const Hole& hole) const;
  void report_done();
  void note_placements(std::uint64_t number, std::span<Placement> placements);

  std::size_t requests_max_;
  std::size_t eager_bytes_;
  UnpostedPool& pool_;
  const ConnectionId owner_;
  std::size_t kept_bytes_ = 0;  // of the pool, ours
  std::uint32_t payload_bytes_ = 0;
  std::uint64_t first_ = 0;           // number of messages_.front(); below: complete and reported
  std::uint64_t complete_below_ = 0;  // >= first_
  std::uint64_t posted_ = 0;
  RingQueue<RecvMessage> messages_;
  RingQueue<Done> done_;
  std::vector<std::vector<std::byte>> copied_;  // early memory that placements still point into
  std::optional<Overflow> overflow_;
};

}  // namespace dlcp::core
