// The statistics of one engine per communicator: durations of messages, losses, and the core's
// counters. They are shown in the process's live page a few times a second, and logged when a
// communicator ends. Used under the engine's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/group/block_tally.h"
#include "engine/live/live_rows.h"
#include "util/statistics/duration_histogram.h"
#include "util/time.h"

namespace dlcp::engine {

// Information about a communicator from the layer above.
struct ContextDescription {
  std::uint64_t communicator = 0;  // NCCL's hash; 0: unknown
  std::int32_t rank = -1;          // -1: unknown
  std::uint32_t ranks = 0;         // 0: unknown
  std::uint32_t budget_ppm = 0;    // 0: exact
  std::string exact_because;
  std::string all_reduce;                    // the algorithm in use and why; empty: not requested
  std::shared_ptr<const BlockTally> blocks;  // of direct exchange; null if not used
};

// One completed request.
struct Completion {
  core::ContextId context = 0;
  bool sends = false;
  Duration took{0};
  std::size_t bytes = 0;
  std::size_t lost = 0;
  core::Licence licence;  // as posted; empty if exact
  // Contributions that the collective has lost on this connection so far, including this message's,
  // if it lost any.
  std::uint64_t contributions_lost = 0;
};

// The activity of a communicator on one device.
struct ContextSummary {
  core::Counters counters;
  DurationHistogram sends, receives;
  std::uint64_t licensed_bytes = 0;   // received under a licence
  std::uint64_t lost_bytes = 0;       // of these, lost bytes
  std::uint64_t budget_used_ppm = 0;  // largest share of a collective's budget that was used

  void merge(const ContextSummary& other);
};

class Monitor {
 public:
  // If `rows` is null, nothing is shown.
  explicit Monitor(std::shared_ptr<LiveRows> rows = {}, std::string device = {},
                   std::string datapath = {});
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void describe(core::ContextId context, const ContextDescription& description);
  void completed(const Completion& completion);
  ContextSummary summary(core::ContextId context, const core::Endpoint& endpoint) const;
  // The communicator has ended. From then on its row shows another one, and its activity is part of
  // a row for all that have ended, so that sums over the rows of a device do not decrease.
  void forget(core::ContextId context, const core::Endpoint& endpoint);

  // The reader's current request, once after each change: true for exact, false for as licensed.
  std::optional<bool> exact_changed() {
    const bool wanted =
        rows_ != nullptr && rows_->page().head.exact.load(std::memory_order_relaxed) != 0;
    if (wanted == exact_) return std::nullopt;
    changed();
    return exact_ = wanted;
  }
  // When show() is due; kNever if nothing has changed.
  Time due() const {
    return changed_ || (rows_ && rows_->page().head.paths_wanted != paths_asked_) ? next_ : kNever;
  }
  // True if nothing has completed for a long time, so that unfinished work should be shown.
  bool stale(Time now) const { return rows_ != nullptr && now - next_ >= kStaleAfter; }
  void show(Time now, const core::Endpoint& endpoint, const datapath::Datapath& datapath);

 private:
  static constexpr Duration kStaleAfter = 800ms;
  static constexpr core::ContextId kEnded = 0;  // all communicators that have ended
  void changed() { changed_ = rows_ != nullptr; }
  struct Context {
    ContextDescription description;
    ContextSummary summary;  // counters are used only for kEnded
    std::optional<std::size_t> row;
  };
  void show_device(const core::Endpoint& endpoint, const datapath::Datapath& datapath);
  void show_context(core::ContextId id, Context& context, const core::Endpoint& endpoint);
  void show_paths(const core::Endpoint& endpoint, const datapath::Datapath& datapath);
  void report_missing(std::size_t rows);

  const std::shared_ptr<LiveRows> rows_;
  const std::string device_, datapath_;
  std::optional<std::size_t> device_row_;
  std::map<core::ContextId, Context> contexts_;
  std::vector<std::size_t> path_rows_;
  std::size_t missing_ = 0;  // rows that this monitor needs and did not get
  std::uint32_t paths_asked_ = 0;
  bool changed_ = false;
  bool exact_ = false;
  Time next_{};
};

}  // namespace dlcp::engine
