// One channel of a ring all-reduce, driven as NCCL's proxy and kernels drive it: up to four
// requests per connection, and a reduction between a slice's arrival and its departure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/driver/canary.h"
#include "cli/driver/lane.h"
#include "cli/driver/reduce.h"
#include "cli/driver/ring/ring_plan.h"
#include "cli/plugin/nccl_part.h"
#include "cli/plugin/net_plugin.h"

namespace dlcp::cli {

// A rank's connections to its two neighbours.
struct RingHop {
  NetPlugin& net;
  void* send_comm;
  void* recv_comm;
  int rank;
  int ranks;
};

class RingChannel {
 public:
  // For elements [first, first + count) of a vector. With `has_canary`, receive buffers are watched
  // between their use and the next receive, and there are more of them, so that each rests longer.
  RingChannel(const RingHop& hop, std::size_t first, std::size_t count,
              const Reduction& reduction = {}, bool has_canary = false);

  // Starts the next all-reduce. `nccl` describes it to the plugin as part of `collective`; null:
  // not described.
  void restart(NcclPart* nccl, void* collective);
  bool step(const void* input, void* output);
  bool done() const { return at_ == steps_.size() && send_.under_way() == 0 && unposted() == 0; }
  std::uint64_t bytes_received() const { return bytes_; }
  std::uint64_t contributions_lost() const { return lost_; }
  // Bytes of watched buffers that were changed since the start. Only between two all-reduces.
  std::uint64_t bytes_overwritten();

 private:
  bool test();
  void finish_step(const RingStep& step);
  bool post();
  bool work(const std::byte* input, std::byte* output);
  std::uint64_t unposted() const { return prepared_ - send_.posted(); }

  Reduction reduction_;
  std::size_t element_bytes_;
  std::vector<RingStep> steps_;
  Lane send_;
  Lane recv_;
  std::optional<Canary> canary_;
  std::size_t receives_per_run_ = 0;
  std::size_t sends_per_run_ = 0;
  std::unique_ptr<ProxyOperation> sending_, receiving_;  // null without NcclPart

  std::size_t at_ = 0;         // the current step
  std::size_t worked_ = 0;     // bytes of it that are done
  std::size_t send_from_ = 0;  // the step whose slice is sent next
  // Messages since the start, which the lanes do not count; they number the slots.
  std::uint64_t prepared_ = 0, consumed_ = 0, to_post_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace dlcp::cli
