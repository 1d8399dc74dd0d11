#include "datapath/verbs/placement/queue_pairs/queue_table.h"

#include <algorithm>
#include <utility>

namespace dlcp::datapath {

// One share more than the queues of a group need: completions from before a reset may still be
// in the completion queue.
QueueTable::QueueTable(VerbsCard& card, const QueueOptions& options, std::size_t queues_max,
                       PlacementCounters& counters)
    : card_(card),
      options_(options),
      queues_max_(queues_max),
      counters_(counters),
      group_queues_(
          std::clamp<std::size_t>(card.entries_max / std::max(options.receives, options.sends), 2,
                                  kGroupQueues + 1) -
          1) {}

Status QueueTable::open_group() {
  Verbs* const verbs = card_.verbs.get();
  const auto open = [&](std::uint32_t share, ibv_comp_channel* channel) {
    const auto entries =
        std::min(static_cast<std::uint32_t>(group_queues_ + 1) * share, card_.entries_max);
    return CqPtr(verbs->create_cq(card_.context.get(), static_cast<int>(entries), channel),
                 {verbs});
  };
  Group group{open(options_.sends, nullptr), open(options_.receives, card_.channel.get())};
  if (group.send_cq == nullptr || group.receive_cq == nullptr)
    return verbs_error("create a completion queue", card_.port, 0);
  verbs->req_notify_cq(group.receive_cq.get());  // the datapath may be armed already
  groups_.push_back(std::move(group));
  return Unit{};
}

bool QueueTable::needs_repair() const {
  return std::ranges::any_of(slots_, &Slot::needs_repair);
}

Result<std::uint16_t> QueueTable::open(const LinkPath& way) {
  if (free_.empty()) {
    const std::size_t index = slots_.size();
    if (index / group_queues_ >= groups_.size())
      if (auto opened = open_group(); !opened) return opened.error();
    slots_.emplace_back();
    slots_.back().name.name = static_cast<std::uint16_t>(index);
    free_.push_back(static_cast<std::uint16_t>(index));
  }
  const std::uint16_t index = free_.back();
  Slot& slot = slots_[index];
  const Group& group = groups_[index / group_queues_];
  auto queue = ConnectedQueue::open(card_, group.send_cq.get(), group.receive_cq.get(), slot.name,
                                    options_, counters_);
  if (!queue) return queue.error();
  free_.pop_back();
  slot.queue = std::move(queue).value();
  slot.way = way;
  slot.remote = {};
  slot.renewals = 0;
  slot.pause = {};
  ++open_;
  return index;
}

// The new queue is created first, so that it cannot have the number of the old one.
Status QueueTable::renew(std::uint16_t index) {
  Slot& slot = slots_[index];
  if (slot.queue->is_destroyed())
    return Error{ErrorCode::kSystem, "a queue pair had to be destroyed, which is final", ""};
  const Group& group = groups_[index / group_queues_];
  auto queue = ConnectedQueue::open(card_, group.send_cq.get(), group.receive_cq.get(),
                                    slot.queue->next_name(), options_, counters_);
  if (!queue) return queue.error();
  slot.queue->reset();
  slot.queue = std::move(queue).value();
  slot.remote = {};
  ++slot.renewals;
  slot.pause.on_renewed();
  return Unit{};
}

void QueueTable::close(std::uint16_t index) {
  Slot& slot = slots_[index];
  slot.name = slot.queue->next_name();
  slot.queue.reset();
  free_.push_back(index);
  --open_;
}

}  // namespace dlcp::datapath
