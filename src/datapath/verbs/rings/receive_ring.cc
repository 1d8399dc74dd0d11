#include "datapath/verbs/rings/receive_ring.h"

#include <algorithm>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kRoutingHeaderBytes = 40;  // a global routing header: InfiniBand's, here IP's
constexpr std::size_t kLineBytes = 64;

// Places each buffer so that the datagram after the 40 bytes is aligned for the copy.
constexpr std::size_t kLead = kLineBytes - kRoutingHeaderBytes;

}  // namespace

std::optional<RoutingHeader> read_routing_header(std::span<const std::byte, 40> bytes,
                                                 IpFamily family) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  if (family == IpFamily::kV4 && at(20) == 0x45) {
    return RoutingHeader{static_cast<std::uint8_t>(at(21)),
                         wire::host_address(bytes.subspan(32, 4))};
  }
  if (family == IpFamily::kV6 && at(0) >> 4 == 6) {
    return RoutingHeader{static_cast<std::uint8_t>((at(0) & 0xf) << 4 | at(1) >> 4),
                         wire::host_address(bytes.subspan(8, 16))};
  }
  return std::nullopt;
}

ReceiveRing::ReceiveRing(VerbsCard& card, std::uint32_t buffers, VerbsCounters& counters)
    : card_(card),
      counters_(counters),
      stride_((kLineBytes + card.port_mtu() + kLineBytes - 1) / kLineBytes * kLineBytes),
      memory_(stride_ * buffers + kLineBytes),
      requests_(buffers),
      pieces_(buffers) {}

Result<std::unique_ptr<ReceiveRing>> ReceiveRing::open(VerbsCard& card, std::uint32_t buffers,
                                                       VerbsCounters& counters) {
  std::unique_ptr<ReceiveRing> ring(new ReceiveRing(card, buffers, counters));
  Verbs* const verbs = card.verbs.get();
  ring->mr_ = {verbs->reg_mr(card.pd.get(), ring->memory_.data(), ring->memory_.size(),
                             IBV_ACCESS_LOCAL_WRITE),
               {verbs}};
  if (ring->mr_ == nullptr) return verbs_error("register memory for receiving", card.port, 0);
  std::uint32_t inline_bytes = 0;
  auto made = card.make_queue_pair(1, buffers, inline_bytes);
  if (!made) return made.error();
  ring->qp_ = std::move(made).value();
  const auto begin = reinterpret_cast<std::uintptr_t>(ring->memory_.data());
  const std::uintptr_t aligned = (begin + kLineBytes - 1) / kLineBytes * kLineBytes;
  for (std::size_t i = 0; i < buffers; ++i) {
    ring->pieces_[i] = {aligned + i * ring->stride_ + kLead,
                        static_cast<std::uint32_t>(kRoutingHeaderBytes + card.port_mtu()),
                        ring->mr_->lkey};
    ring->requests_[i].wr_id = i;
    ring->requests_[i].sg_list = &ring->pieces_[i];
    ring->requests_[i].num_sge = 1;
    ring->give(i);
  }
  if (!ring->refill()) return verbs_error("post receive buffers", card.port, 0);
  return ring;
}

void ReceiveRing::give(std::size_t buffer) {
  ibv_recv_wr* const request = &requests_[buffer];
  request->next = nullptr;
  (last_free_ == nullptr ? first_free_ : last_free_->next) = request;
  last_free_ = request;
}

bool ReceiveRing::refill() {
  if (first_free_ == nullptr) return true;
  ibv_recv_wr* refused = nullptr;
  ++counters_.rx_refills;
  const bool posted = card_.verbs->post_recv(qp_.get(), first_free_, &refused) == 0;
  first_free_ = last_free_ = nullptr;
  broken_ = broken_ || !posted;
  return posted;
}

bool ReceiveRing::accept(const ibv_wc& completion, Time now, wire::RxPacket& out) {
  if (completion.status == IBV_WC_WR_FLUSH_ERR) broken_ = true;
  if (completion.status != IBV_WC_SUCCESS || (completion.wc_flags & IBV_WC_GRH) == 0 ||
      completion.byte_len < kRoutingHeaderBytes) {
    ++counters_.rx_errors;
    return false;
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(pieces_[completion.wr_id].addr);
  const auto header = read_routing_header(
      std::span<const std::byte, kRoutingHeaderBytes>(bytes, kRoutingHeaderBytes),
      card_.port.gid.ip.family);
  if (!header) {
    ++counters_.rx_errors;
    return false;
  }
  out.bytes = {bytes + kRoutingHeaderBytes, completion.byte_len - kRoutingHeaderBytes};
  out.arrived_at = now;
  out.ecn = static_cast<Ecn>(header->tos & 3);
  out.dscp = static_cast<std::uint8_t>(header->tos >> 2);
  out.source = header->source;
  ++counters_.rx_packets;
  counters_.rx_bytes += out.bytes.size();
  counters_.rx_ce_marks += out.ecn == Ecn::kCe ? 1 : 0;
  return true;
}

std::size_t ReceiveRing::receive(Time now, std::span<wire::RxPacket> out) {
  for (const std::size_t buffer : handed_out_)
    give(buffer);
  handed_out_.clear();
  refill();
  std::size_t count = 0;
  while (count < out.size()) {
    const std::size_t wanted = std::min(out.size() - count, kBatch);
    const int got =
        card_.verbs->poll_cq(card_.receive_cq.get(), static_cast<int>(wanted), completions_.data());
    if (got <= 0) {
      broken_ = broken_ || got < 0;
      break;
    }
    for (int i = 0; i < got; ++i) {
      const ibv_wc& completion = completions_[static_cast<std::size_t>(i)];
      if (completion.wr_id >= requests_.size()) continue;
      handed_out_.push_back(completion.wr_id);
      count += accept(completion, now, out[count]) ? 1 : 0;
    }
    if (static_cast<std::size_t>(got) < wanted) break;
  }
  return count;
}

}  // namespace dlcp::datapath
