// The queues of all links of a datapath, and their completion queues. A completion queue serves a
// group of queues, so that its size does not depend on the number of peers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datapath/placement.h"
#include "datapath/verbs/placement/queue_pairs/connected_queue.h"
#include "datapath/verbs/placement/queue_pairs/renewal_pause.h"

namespace dlcp::datapath {

class QueueTable {
 public:
  static constexpr std::size_t kGroupQueues = 32;

  struct Slot {
    std::unique_ptr<ConnectedQueue> queue;  // null: free
    LinkPath way;
    QueueRemote remote;         // valid once the queue is connected
    ConnectedQueue::Name name;  // of the next queue in this slot
    bool is_used = false;       // listed by the placer as one that may have requests
    std::uint32_t renewals = 0;
    RenewalPause pause;  // RC

    // It was connected, and an error or a reset has ended that.
    bool needs_repair() const {
      return queue != nullptr && remote.queue_pair != 0 &&
             (queue->is_broken() || !queue->is_connected());
    }
    // Grows with each failure, and with each renewal.
    std::uint32_t failures() const { return 2 * renewals + (needs_repair() ? 1 : 0); }
  };
  struct Group {
    CqPtr send_cq;
    CqPtr receive_cq;
  };

  QueueTable(VerbsCard& card, const QueueOptions& options, std::size_t queues_max,
             PlacementCounters& counters);

  std::size_t capacity() const { return queues_max_; }
  std::size_t room() const { return queues_max_ - open_; }
  const QueueOptions& options() const { return options_; }
  // Returns the index of the new queue. Requires room().
  Result<std::uint16_t> open(const LinkPath& way);
  void close(std::uint16_t index);
  // Replaces the queue by a new one with another number, which is not connected.
  Status renew(std::uint16_t index);

  // `index` from open(), or from a completion (name_of): then the slot may be free.
  Slot* find(std::size_t index) { return index < slots_.size() ? &slots_[index] : nullptr; }
  Slot& at(std::size_t index) { return slots_[index]; }
  std::vector<Slot>& slots() { return slots_; }
  bool needs_repair() const;  // any of them
  std::vector<Group>& groups() { return groups_; }
  Group& group_of(const ConnectedQueue& queue) {
    return groups_[queue.next_name().name / group_queues_];
  }

 private:
  Status open_group();

  VerbsCard& card_;
  const QueueOptions options_;
  const std::size_t queues_max_;
  PlacementCounters& counters_;
  const std::size_t group_queues_;
  std::vector<Group> groups_;  // destroyed after the queues
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_;
  std::size_t open_ = 0;
};

}  // namespace dlcp::datapath
