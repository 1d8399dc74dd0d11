#include "datapath/verbs/placement/queue_pairs/work_queue.h"

namespace dlcp::datapath {

Result<std::unique_ptr<WorkQueue>> WorkQueue::open(VerbsCard& card, PlacementCounters& counters) {
  std::unique_ptr<WorkQueue> work(new WorkQueue(card));
  work->cq_ = {card.verbs->create_cq(card.context.get(), static_cast<int>(kRequests) + 8,
                                     card.channel.get()),
               {card.verbs.get()}};
  if (work->cq_ == nullptr) return verbs_error("create a completion queue", card.port, 0);
  card.verbs->req_notify_cq(work->cq_.get());  // the datapath may be armed already
  const QueueOptions options{PlacementTransport::kRc, kRequests, 8, true};
  auto queue = ConnectedQueue::open(card, work->cq_.get(), work->cq_.get(), {}, options, counters);
  if (!queue) return queue.error();
  work->queue_ = std::move(queue).value();
  const QueueRemote itself{card.port.gid.ip, work->queue_->number(), IBV_MTU_1024, 1, 0};
  if (auto connected = work->queue_->connect(itself); !connected) return connected.error();
  return work;
}

bool WorkQueue::bind(ibv_mw* window, ibv_mr* region, std::uint64_t address, std::uint64_t bytes,
                     std::size_t token) {
  ibv_mw_bind request{};
  request.send_flags = IBV_SEND_SIGNALED;
  request.bind_info.mr = region;
  request.bind_info.addr = bytes > 0 ? address : 0;
  request.bind_info.length = bytes;
  request.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (card_.verbs->bind_mw(queue_->queue_pair(), window, &request) != 0) return false;
  outstanding_.push_back(token);
  return true;
}

bool WorkQueue::read(std::span<std::byte> landing, std::uint32_t landing_key, std::uint64_t address,
                     std::uint32_t key, std::size_t token) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(landing.data()),
                static_cast<std::uint32_t>(landing.size()), landing_key};
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = key;
  ibv_send_wr* refused = nullptr;
  if (card_.verbs->post_send(queue_->queue_pair(), &request, &refused) != 0) {
    is_broken_ = true;
    return false;
  }
  outstanding_.push_back(token);
  return true;
}

std::optional<WorkQueue::Done> WorkQueue::next() {
  if (outstanding_.empty()) return std::nullopt;
  if (!is_broken_) {
    ibv_wc completion{};
    const int got = card_.verbs->poll_cq(cq_.get(), 1, &completion);
    if (got == 0) return std::nullopt;
    is_broken_ = got < 0 || completion.status != IBV_WC_SUCCESS;
  }
  const Done done{outstanding_.front(), !is_broken_};
  outstanding_.pop_front();
  return done;
}

}  // namespace dlcp::datapath
