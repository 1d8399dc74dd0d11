// The messages that a receiver expects: the chunks that have arrived, and their destination. If a
// message arrives before its receive is posted, its first eager_bytes are kept in a pool of the
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/endpoint_types.h"
#include "core/streams/recv_message.h"
#include "util/memory/ring_queue.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"
#include "wire/frames/loss_frame.h"

namespace dlcp::core {

// How much of a message has arrived when its receive is posted.
enum class Early { kNothing, kPart, kAll };

class RecvQueue {
 public:
  RecvQueue(std::size_t requests_max, std::size_t eager_bytes, UnpostedPool& pool,
            ConnectionId owner = 0)
      : requests_max_(requests_max), eager_bytes_(eager_bytes), pool_(pool), owner_(owner) {}
  ~RecvQueue();
  RecvQueue(const RecvQueue&) = delete;

  void set_payload_bytes(std::uint32_t bytes) { payload_bytes_ = bytes; }
  bool can_post() const { return posted_ - first_ < requests_max_; }
  bool has_posted() const { return first_ < posted_; }
  bool under_way() const;  // a packet of an incomplete message has arrived
  // Appends the copies of an early message.
  Early post(RequestId request, std::span<std::byte> buffer, PlacementBatch& placements,
             bool placed_later = false);

  Receipt on_data(const wire::DataHeader& header, std::span<const std::byte> payload,
                  std::vector<Placement>& placements);
  // A run of packets (wire::authentic_run) that begins with the header `first`. False, and nothing
  // has changed, if not all are new whole chunks of a posted message: on_data() takes each of them.
  bool on_run(const wire::DataHeader& first, std::span<const wire::RxPacket> packets,
              std::vector<Placement>& placements);
  // One placement of the message is done. True if it was the last one of the message.
  bool on_placed(std::uint64_t number);

  // --- placed messages (core/placement)
  // The sender's card gets permissions to write to the posted message.
  void permit(std::uint64_t number) { at(number).card_may_write = at(number).undecided = true; }
  // All of them are granted or refused. False: announce_all() was called before.
  bool decide_permits(std::uint64_t number) { return std::exchange(at(number).undecided, false); }
  void end_permits(std::uint64_t number);  // the last one has ended
  // The card has placed this chunk; `last_bytes`: it is the last one of the message.
  Receipt on_placed_chunk(std::uint64_t number, std::uint32_t chunk,
                          std::optional<std::uint32_t> last_bytes);
  // Messages whose permissions must be revoked now: whole ones, and those named in close().
  bool has_closing() const { return !closing_.empty(); }
  std::vector<std::uint64_t> take_closing() { return std::exchange(closing_, {}); }
  void close(std::uint64_t number) { closing_.push_back(number); }
  // Sizes of the message that made on_data or post fail with kTooLong, and of its buffer.
  const std::optional<Overflow>& overflow() const { return overflow_; }

  // A message of `bytes` is being sent. `possible` is false if no message can have this number or
  // length. `number` is the full number if the message is not complete.
  struct Expected {
    bool possible = false;
    std::optional<std::uint64_t> number;
  };
  Expected expect(std::uint32_t message, std::uint32_t bytes);
  // True until the message is reported complete. The functions below require it.
  bool is_open(std::uint64_t number) const { return number >= first_ && !at(number).reported; }
  const RecvMessage& message(std::uint64_t number) const { return at(number); }
  std::size_t missing_bytes(std::uint64_t number) const;
  // Completes a posted message without its missing bytes, which become zeros; returns the chunks.
  std::vector<wire::Hole> complete_with_holes(std::uint64_t number, std::vector<Placement>& zeros);

  bool has_done() const { return !done_.empty(); }
  std::optional<ReceiveDone> pop_done();
  std::uint64_t completed() const { return complete_below_; }  // every message below has arrived
  std::uint64_t posted() const { return posted_; }
  std::uint64_t announced() const;  // without those whose permissions are undecided
  bool announce_all();  // the card has not decided for long; false: all have been announced
  // Reports messages that completed() does not cover, in at most `bytes` of the frame.
  void report(wire::StreamReport& stream, std::size_t bytes);

 private:
  RecvMessage& at(std::uint64_t number) { return messages_[number - first_]; }
  const RecvMessage& at(std::uint64_t number) const { return messages_[number - first_]; }
  RecvMessage& reach(std::uint64_t number);  // makes those up to it
  bool fits(const RecvMessage& message);     // into the posted buffer; notes the overflow
  void note_arrived(std::uint64_t number, std::uint32_t last, std::uint32_t count = 1);
  bool make_room(RecvMessage& message);
  static std::uint32_t chunk_bytes(const RecvMessage& message, std::uint32_t chunk);
  void hand_over_early(RecvMessage& message, PlacementBatch& placements);
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
  std::size_t kept_bytes_ = 0;  // bytes of the pool in use here
  std::uint32_t payload_bytes_ = 0;
  std::uint64_t first_ = 0;           // number of messages_.front(); below: complete and reported
  std::uint64_t complete_below_ = 0;  // >= first_
  std::uint64_t posted_ = 0;
  RingQueue<RecvMessage> messages_;
  RingQueue<ReceiveDone> done_;
  std::optional<Overflow> overflow_;
  std::vector<std::uint64_t> closing_;
};

}  // namespace dlcp::core
