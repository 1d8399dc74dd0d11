// What waits to be posted: a queue for each peer, lane and direction, so that one connection that
// takes no more holds up no other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "collective/transfer.h"

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
    if (queues_[at].empty()) waiting_.push_back(at);
    queues_[at].push_back(transfer);
  }
  // Offers all, and calls posted(transfer) for each that was taken.
  template <class Posted>
  void post_to(Mesh& mesh, Posted posted) {
    std::erase_if(
        waiting_,
        [&](std::size_t at) {
          auto& queue = queues_[at];
          while (!queue.empty()) {
            const Transfer next = queue.front();
            if (!mesh.post(next)) return false;
            queue.pop_front();
            posted(next);
          }
          return true;
        });
  }
  bool empty() const { return waiting_.empty(); }

 private:
  std::vector<std::deque<Transfer>> queues_;
  std::vector<std::size_t> waiting_;  // queues that are not empty
};

}  // namespace dlcp::collective
