#include "datapath/verbs/rings/send_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace dlcp::datapath {
namespace {

constexpr std::uint32_t kInlineBytes = 256;  // requested: enough for acknowledgements
constexpr unsigned kGenerationBits = 24;
constexpr std::size_t kLineBytes = 64;

}  // namespace

SendRing::SendRing(VerbsCard& card, const MemoryRegions& regions, std::uint8_t name,
                   std::uint32_t requests, VerbsCounters& counters)
    : card_(card),
      regions_(regions),
      name_(name),
      counters_(counters),
      slots_(std::bit_floor(requests)),
      mask_(slots_.size() - 1),
      stride_((card.mtu + wire::TxPacket::kMaxHeaderBytes + kLineBytes - 1) / kLineBytes *
              kLineBytes),
      memory_(stride_ * slots_.size()),
      signal_every_(std::max<std::size_t>(slots_.size() / 4, 1)),
      chain_(slots_.size()),
      pieces_(2 * slots_.size()) {
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    chain_[i].next = i + 1 < chain_.size() ? &chain_[i + 1] : nullptr;
    chain_[i].sg_list = &pieces_[2 * i];
    chain_[i].opcode = IBV_WR_SEND;
    chain_[i].wr.ud.remote_qkey = kQueueKey;
  }
}

SendRing::~SendRing() {
  discard();
}

Result<std::unique_ptr<SendRing>> SendRing::open(VerbsCard& card, const MemoryRegions& regions,
                                                 std::uint8_t name, std::uint32_t requests,
                                                 VerbsCounters& counters) {
  std::unique_ptr<SendRing> ring(new SendRing(card, regions, name, requests, counters));
  ring->mr_ = {card.verbs->reg_mr(card.pd.get(), ring->memory_.data(), ring->memory_.size(), 0),
               {card.verbs.get()}};
  if (ring->mr_ == nullptr) return verbs_error("register memory for sending", card.port, 0);
  if (auto opened = ring->reopen(); !opened) return opened.error();
  return ring;
}

std::byte* SendRing::memory_of(std::uint64_t request) const {
  return const_cast<std::byte*>(memory_.data()) + slot_of(request) * stride_;
}

std::uint64_t SendRing::id_of(std::uint64_t request) const {
  return std::uint64_t{name_} << 56 | std::uint64_t{generation_} << 32 |
         static_cast<std::uint32_t>(request);
}

std::uint8_t SendRing::ring_of(const ibv_wc& completion) {
  return static_cast<std::uint8_t>(completion.wr_id >> 56);
}

void SendRing::add(const wire::TxPacket& packet, AddressHandles::Handle& handle,
                   std::uint32_t to_queue_pair, std::optional<std::uint32_t> payload_key,
                   bool is_on_gpu) {
  Slot& slot = slots_[slot_of(added_)];
  std::byte* const own = memory_of(added_);
  std::size_t bytes = packet.header_bytes + packet.payload.size();
  const bool is_inline = bytes <= inline_bytes_ && !is_on_gpu;
  ibv_send_wr& request = chain_[chained_];
  ibv_sge* piece = request.sg_list;
  // Copies the whole array, which has a fixed size: the rest is overwritten or not sent.
  std::memcpy(own, packet.header.data(), packet.header.size());
  if (payload_key.has_value() && !is_inline) {
    if (packet.header_bytes > 0)
      *piece++ = {reinterpret_cast<std::uintptr_t>(own), packet.header_bytes, mr_->lkey};
    *piece++ = {reinterpret_cast<std::uintptr_t>(packet.payload.data()),
                static_cast<std::uint32_t>(packet.payload.size()), *payload_key};
    slot.user = packet.payload;
    last_of_user_ = chained_;
    ++counters_.tx_zero_copy;
  } else {
    if (!packet.payload.empty() && regions_.was_on_gpu(packet.payload)) {
      lacks_payload_ = true;
      bytes = packet.header_bytes;
    } else if (!packet.payload.empty())
      std::memcpy(own + packet.header_bytes, packet.payload.data(), packet.payload.size());
    *piece++ = {reinterpret_cast<std::uintptr_t>(own), static_cast<std::uint32_t>(bytes),
                mr_->lkey};
    slot.user = {};
    ++counters_.tx_copied;
  }
  slot.handle = &handle;
  ++handle.requests;
  counters_.tx_bytes += bytes;

  request.wr_id = id_of(added_);
  request.num_sge = static_cast<int>(piece - request.sg_list);
  request.send_flags = is_inline ? IBV_SEND_INLINE : 0;
  if (++since_signalled_ >= signal_every_) {
    request.send_flags |= IBV_SEND_SIGNALED;
    since_signalled_ = 0;
  }
  request.wr.ud.ah = handle.ah.get();
  request.wr.ud.remote_qpn = to_queue_pair;
  ++chained_;
  ++added_;
}

void SendRing::signal_last() {
  chain_[chained_ - 1].send_flags |= IBV_SEND_SIGNALED;
  since_signalled_ = 0;
}

void SendRing::flush() {
  if (chained_ == 0) return;
  // Requests a completion for user memory, whose release must not depend on later packets.
  if (last_of_user_ != SIZE_MAX) {
    chain_[last_of_user_].send_flags |= IBV_SEND_SIGNALED;
    since_signalled_ = std::min<std::uint64_t>(since_signalled_, chained_ - 1 - last_of_user_);
  }
  ibv_send_wr* refused = nullptr;
  ++counters_.tx_doorbells;
  ibv_send_wr* const beyond = std::exchange(chain_[chained_ - 1].next, nullptr);
  if (card_.verbs->post_send(qp_.get(), chain_.data(), &refused) != 0)
    broken_ = true;  // the ring had room, so only a new queue pair can help
  chain_[chained_ - 1].next = beyond;
  counters_.tx_packets += chained_;
  posted_ = added_;
  chained_ = 0;
  last_of_user_ = SIZE_MAX;
}

void SendRing::on_completion(const ibv_wc& completion) {
  const auto generation =
      static_cast<std::uint32_t>(completion.wr_id >> 32) & ((1u << kGenerationBits) - 1);
  if (generation != generation_ || qp_ == nullptr) return;
  ++counters_.tx_completions;
  if (completion.status != IBV_WC_SUCCESS) {
    counters_.tx_errors += completion.status == IBV_WC_WR_FLUSH_ERR ? 0 : 1;
    broken_ = true;
    return;  // discard() releases all slots at once
  }
  const auto steps = static_cast<std::uint32_t>(completion.wr_id) -
                     static_cast<std::uint32_t>(reclaimed_);  // modulo 2^32
  if (steps < posted_ - reclaimed_) reclaim(reclaimed_ + steps + 1);
}

void SendRing::reclaim(std::uint64_t end) {
  for (; reclaimed_ < end; ++reclaimed_) {
    Slot& slot = slots_[slot_of(reclaimed_)];
    slot.user = {};
    --slot.handle->requests;
    slot.handle = nullptr;
  }
}

bool SendRing::reads(std::span<const std::byte> memory) const {
  const std::byte* const begin = memory.data();
  const std::byte* const end = begin + memory.size();
  for (std::uint64_t request = reclaimed_; request < added_; ++request) {
    const auto user = slots_[slot_of(request)].user;
    if (!user.empty() && user.data() < end && begin < user.data() + user.size()) return true;
  }
  return false;
}

void SendRing::discard() {
  qp_.reset();  // the card no longer accesses memory when this returns
  counters_.tx_lost += added_ - reclaimed_;
  reclaim(added_);
  posted_ = added_;
  since_signalled_ = 0;
  chained_ = 0;
  last_of_user_ = SIZE_MAX;
  broken_ = true;
}

Status SendRing::reopen() {
  if (qp_ != nullptr) discard();
  std::uint32_t inline_bytes = kInlineBytes;
  auto made = card_.make_queue_pair(static_cast<std::uint32_t>(slots_.size()), 0, inline_bytes);
  if (!made) return made.error();
  qp_ = std::move(made).value();
  inline_bytes_ = inline_bytes;
  generation_ = (generation_ + 1) & ((1u << kGenerationBits) - 1);
  broken_ = false;
  return Unit{};
}

}  // namespace dlcp::datapath
