// Pending messages in the order in which they were added. Each peer, lane and direction has its own
// queue, so that a connection that accepts no more does not delay the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "collective/calls/transfer.h"

namespace dlcp::collective {

class TransferQueues {
 public:
  explicit TransferQueues(std::uint32_t ranks) : queues_(count(ranks)) {}

  static std::size_t count(std::uint32_t ranks) { return std::size_t{ranks} * 4; }
  static std::size_t index(std::uint32_t peer, Transfer::Lane lane, bool sends) {
    return std::size_t{peer} * 4 + (lane == Transfer::Lane::kResults ? 2 : 0) + (sends ? 1 : 0);
  }

  void add(const Transfer& transfer) {
    const std::size_t at = index(transfer.peer, transfer.lane, transfer.sends);
    if (queues_[at].empty()) heads_.emplace(next_, at);
    queues_[at].emplace_back(next_++, transfer);
  }
  // Offers all messages, oldest first, and calls posted(transfer) for each accepted one.
  template <class Posted>
  void post_to(Mesh& mesh, Posted posted) {
    for (auto head = heads_.begin(); head != heads_.end();) {
      const std::size_t at = head->second;
      auto& queue = queues_[at];
      const Transfer transfer = queue.front().second;
      if (!mesh.post(transfer)) {
        ++head;
        continue;
      }
      queue.pop_front();
      if (!queue.empty()) heads_.emplace(queue.front().first, at);
      head = heads_.erase(head);
      posted(transfer);
    }
  }
  bool empty() const { return heads_.empty(); }

 private:
  std::vector<std::deque<std::pair<std::uint64_t, Transfer>>> queues_;
  std::map<std::uint64_t, std::size_t> heads_;  // first message of each queue that is not empty
  std::uint64_t next_ = 0;
};

}  // namespace dlcp::collective
