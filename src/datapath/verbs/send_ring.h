// The sending half: one UD queue pair with a ring of registered slots, one per request that may be
// outstanding. A slot holds the packet's header, and its payload too where the card cannot fetch
// that from where it lies. Packets are chained and handed over by flush(), one doorbell per chain;
// few of them ask for a completion, and each completion gives back all before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datapath/verbs/address_handles.h"
#include "datapath/verbs/memory_regions.h"
#include "datapath/verbs/verbs_card.h"
#include "datapath/verbs/verbs_counters.h"
#include "wire/packet.h"

namespace dlcp::datapath {

class SendRing {
 public:
  // `name`: which ring of its card this is, 0..255; comes back in the completions' wr_id. Of
  // `requests` as many as are a power of two are used.
  static Result<std::unique_ptr<SendRing>> open(VerbsCard& card, std::uint8_t name,
                                                std::uint32_t requests, VerbsCounters& counters);
  ~SendRing();
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  bool has_room() const { return qp_ != nullptr && added_ - reclaimed_ <= mask_; }
  bool has_outstanding() const { return added_ != reclaimed_; }

  // Needs has_room(). The payload is fetched by the card from where it lies if `payload_key` says
  // that this is registered, and must then stay until reads() no longer says so.
  void add(const wire::TxPacket& packet, AddressHandles::Handle& handle,
           std::uint32_t to_queue_pair, std::optional<std::uint32_t> payload_key);
  // Has the packet just added report when it has left, so that all before it are reclaimed.
  void signal_last();
  void flush();

  // A completion of this ring; those of a queue pair that has been replaced are known by it.
  void on_completion(const ibv_wc& completion);

  bool reads(std::span<const std::byte> memory) const;
  // True once a completion with an error or a refused post has made the queue pair useless.
  bool is_broken() const { return broken_; }
  // Lets go of the queue pair, and so of all memory; what had not left is lost.
  void discard();
  // A new queue pair in place of a broken or discarded one.
  Status reopen();

  static std::uint8_t ring_of(const ibv_wc& completion);
  std::uint32_t queue_pair_number() const { return qp_ != nullptr ? qp_->qp_num : 0; }

 private:
  struct Slot {
    std::span<const std::byte> user;  // payload that the card fetches itself
    AddressHandles::Handle* handle = nullptr;
  };

  SendRing(VerbsCard& card, std::uint8_t name, std::uint32_t requests, VerbsCounters& counters);
  std::size_t slot_of(std::uint64_t request) const { return request & mask_; }
  std::byte* memory_of(std::uint64_t request) const;
  void reclaim(std::uint64_t end);
  std::uint64_t id_of(std::uint64_t request) const;

  VerbsCard& card_;
  const std::uint8_t name_;
  VerbsCounters& counters_;
  std::vector<Slot> slots_;  // a power of two
  const std::size_t mask_;
  std::size_t stride_ = 0;
  std::vector<std::byte> memory_;
  const std::size_t signal_every_;  // requests, if nothing else asks for a completion
  MrPtr mr_;
  QpPtr qp_;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t generation_ = 0;  // of the queue pair
  bool broken_ = false;

  // Requests by number, counted from 0 for ever: reclaimed_ <= posted_ <= added_.
  std::uint64_t added_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t reclaimed_ = 0;
  std::uint64_t since_signalled_ = 0;
  std::vector<ibv_send_wr> chain_;  // requests posted_ .. added_, and room for a full ring
  std::vector<ibv_sge> pieces_;     // two for each of the chain
  std::size_t chained_ = 0;
  std::size_t last_of_user_ = SIZE_MAX;  // in the chain: the last whose payload is the user's
};

}  // namespace dlcp::datapath
