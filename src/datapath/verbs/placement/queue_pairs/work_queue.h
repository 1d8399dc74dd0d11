// An RC queue pair that is connected to itself. It binds and unbinds memory windows, which then are
// valid for all queue pairs of the device, or reads memory of the device's own regions. Requests
// complete in order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "datapath/verbs/placement/queue_pairs/connected_queue.h"

namespace dlcp::datapath {

class WorkQueue {
 public:
  static Result<std::unique_ptr<WorkQueue>> open(VerbsCard& card, PlacementCounters& counters);

  bool has_room() const { return !is_broken_ && outstanding_.size() < kRequests; }
  // Binds the window to `bytes` at `address` of the region, or unbinds it (0 bytes; some drivers
  // want a region even then). Requires has_room(). The window has its new key at once, but it is
  // valid only when the token comes back from next(). If this fails, the window is as before.
  bool bind(ibv_mw* window, ibv_mr* region, std::uint64_t address, std::uint64_t bytes,
            std::size_t token);

  // Reads the bytes at `address` of a region into `landing`. Requires has_room(). False if the card
  // refuses; then the queue is broken.
  bool read(std::span<std::byte> landing, std::uint32_t landing_key, std::uint64_t address,
            std::uint32_t key, std::size_t token);

  struct Done {
    std::size_t token = 0;
    bool succeeded = false;  // if not, it is unknown whether the window was bound
  };
  // Returns the next finished request; nullopt if there is none now. After a failure all
  // outstanding requests fail, and the queue must be opened again.
  std::optional<Done> next();
  bool is_broken() const { return is_broken_; }
  ibv_cq* completions() const { return cq_.get(); }

 private:
  static constexpr std::uint32_t kRequests = 256;

  explicit WorkQueue(VerbsCard& card) : card_(card) {}

  VerbsCard& card_;
  CqPtr cq_;
  std::unique_ptr<ConnectedQueue> queue_;
  std::deque<std::size_t> outstanding_;  // tokens
  bool is_broken_ = false;
};

}  // namespace dlcp::datapath
