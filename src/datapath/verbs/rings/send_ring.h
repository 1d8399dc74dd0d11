// The sending half: one UD queue pair with a ring of registered slots, one for each outstanding
// request. A slot holds the packet's header, and its payload if the card cannot fetch that from
// user memory. Packets are chained and posted by flush() with one doorbell per chain. Few of them
// request a completion, and each completion releases all slots before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/device/verbs_card.h"
#include "datapath/verbs/rings/address_handles.h"
#include "datapath/verbs/verbs_counters.h"
#include "wire/packet.h"

namespace dlcp::datapath {

class SendRing {
 public:
  // `name` numbers the ring on its card, 0..255, and is returned in the completions' wr_id.
  // `requests` is rounded down to a power of two.
  static Result<std::unique_ptr<SendRing>> open(VerbsCard& card, const MemoryRegions& regions,
                                                std::uint8_t name, std::uint32_t requests,
                                                VerbsCounters& counters);
  ~SendRing();
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  bool has_room() const { return qp_ != nullptr && added_ - reclaimed_ <= mask_; }
  bool has_outstanding() const { return added_ != reclaimed_; }

  // Requires has_room(). If `payload_key` is set, the payload is registered memory that the card
  // fetches directly; it must stay unchanged until reads() is false. The processor copies the
  // payload otherwise, and short ones unless `is_on_gpu`.
  void add(const wire::TxPacket& packet, AddressHandles::Handle& handle,
           std::uint32_t to_queue_pair, std::optional<std::uint32_t> payload_key,
           bool is_on_gpu = false);
  bool fits_inline(const wire::TxPacket& packet) const {
    return packet.header_bytes + packet.payload.size() <= inline_bytes_;
  }
  // Requests a completion for the packet just added, so that all slots up to it are reclaimed.
  void signal_last();
  void flush();

  // Handles a completion of this ring. Completions of a replaced queue pair are detected.
  void on_completion(const ibv_wc& completion);

  bool reads(std::span<const std::byte> memory) const;
  // True after an error completion or a rejected post, which makes the queue pair unusable.
  bool is_broken() const { return broken_; }
  // True if the payload of a packet was in GPU memory that is not registered any more. Neither the
  // card nor the processor can read it, so the packet was sent without its payload.
  bool lacks_payload() const { return lacks_payload_; }
  // Destroys the queue pair and so releases all memory. Packets that have not left are lost.
  void discard();
  // Creates a new queue pair in place of a broken or discarded one.
  Status reopen();

  static std::uint8_t ring_of(const ibv_wc& completion);
  std::uint32_t queue_pair_number() const { return qp_ != nullptr ? qp_->qp_num : 0; }

 private:
  struct Slot {
    std::span<const std::byte> user;  // payload that the card fetches directly
    AddressHandles::Handle* handle = nullptr;
  };

  SendRing(VerbsCard& card, const MemoryRegions& regions, std::uint8_t name, std::uint32_t requests,
           VerbsCounters& counters);
  std::size_t slot_of(std::uint64_t request) const { return request & mask_; }
  std::byte* memory_of(std::uint64_t request) const;
  void reclaim(std::uint64_t end);
  std::uint64_t id_of(std::uint64_t request) const;

  VerbsCard& card_;
  const MemoryRegions& regions_;
  const std::uint8_t name_;
  VerbsCounters& counters_;
  std::vector<Slot> slots_;  // number is a power of two
  const std::size_t mask_;
  std::size_t stride_ = 0;
  std::vector<std::byte> memory_;
  const std::size_t signal_every_;  // requests between completions, unless one is requested earlier
  MrPtr mr_;
  QpPtr qp_;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t generation_ = 0;  // counts queue pairs
  bool broken_ = false;
  bool lacks_payload_ = false;

  // Requests are numbered from 0 without wrapping: reclaimed_ <= posted_ <= added_.
  std::uint64_t added_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t reclaimed_ = 0;
  std::uint64_t since_signalled_ = 0;
  std::vector<ibv_send_wr> chain_;  // requests posted_ .. added_, with room for a full ring
  std::vector<ibv_sge> pieces_;     // two for each request of the chain
  std::size_t chained_ = 0;
  std::size_t last_of_user_ = SIZE_MAX;  // index in the chain of the last request with user memory
};

}  // namespace dlcp::datapath
