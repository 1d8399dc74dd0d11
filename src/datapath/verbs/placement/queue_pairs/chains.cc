#include "datapath/verbs/placement/queue_pairs/chains.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

namespace dlcp::datapath {
namespace {

template <class Requests>
void link_up(Requests& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i)
    requests[i].next = i + 1 < requests.size() ? &requests[i + 1] : nullptr;
}

}  // namespace

SendChain::SendChain(Verbs& verbs, PlacementCounters& counters)
    : verbs_(verbs), counters_(counters) {
  link_up(requests_);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    requests_[i].sg_list = &pieces_[i];
    requests_[i].num_sge = 1;
    requests_[i].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  }
}

void SendChain::add(ConnectedQueue& queue, const PlacedPacket& packet, std::uint32_t payload_key) {
  ibv_send_wr& request = requests_[count_];
  pieces_[count_] = {reinterpret_cast<std::uintptr_t>(packet.payload.data()),
                     static_cast<std::uint32_t>(packet.payload.size()), payload_key};
  request.wr_id = queue.add(packet.payload);
  request.imm_data = htonl(packet.index.pack());
  request.wr.rdma.remote_addr = packet.address;
  request.wr.rdma.rkey = packet.key;
  queue_ = &queue;
  counters_.placed_tx_bytes += packet.payload.size();
  if (++count_ == kRequests) post();
}

void SendChain::post() {
  if (count_ == 0) return;
  ibv_send_wr& last = requests_[count_ - 1];
  ibv_send_wr* const beyond = std::exchange(last.next, nullptr);
  last.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  if (verbs_.post_send(queue_->queue_pair(), requests_.data(), &refused) != 0)
    queue_->set_broken();  // it had room, so that only a reset can help
  last.send_flags = 0;
  last.next = beyond;
  ++counters_.placed_tx_doorbells;
  counters_.placed_tx_packets += count_;
  count_ = 0;
}

ReceiveChain::ReceiveChain(Verbs& verbs) : verbs_(verbs) {
  link_up(requests_);
}

void ReceiveChain::fill(ConnectedQueue& queue) {
  if (requests_[0].wr_id != queue.receive_id())
    for (ibv_recv_wr& request : requests_)
      request.wr_id = queue.receive_id();
  while (queue.receives_missing() > 0 && !queue.is_broken()) {
    const std::uint32_t count =
        std::min<std::uint32_t>(queue.receives_missing(), static_cast<std::uint32_t>(kRequests));
    ibv_recv_wr& last = requests_[count - 1];
    ibv_recv_wr* const beyond = std::exchange(last.next, nullptr);
    ibv_recv_wr* refused = nullptr;
    if (verbs_.post_recv(queue.queue_pair(), requests_.data(), &refused) != 0) queue.set_broken();
    last.next = beyond;
    queue.on_receives_posted(count);
  }
}

}  // namespace dlcp::datapath
