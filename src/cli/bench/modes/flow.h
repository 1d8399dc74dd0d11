// One connection's stream of messages, driven as NCCL's proxy drives it (driver/lane.h), with up to
// `inflight` requests. SendFlow has that many slots. RecvFlow has some more, so that it can check
// messages while the next ones arrive.
#pragma once

#include <memory>
#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/bench/modes/operation_feed.h"
#include "cli/bench/rank/links.h"
#include "cli/data/line_pollers.h"
#include "cli/data/payload.h"
#include "cli/driver/lane.h"
#include "cli/measure/histogram.h"

namespace dlcp::cli {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

class SendFlow {
 public:
  // `times` receives the time of each message's first isend. Without it (ranks on several machines
  // have no common clock) a message's time ends when its send is done. `nccl` describes the
  // messages to the plugin; null: not described.
  SendFlow(NetPlugin& net, const Link& link, const BenchCase& bench_case,
           std::atomic<std::int64_t>* times, NcclPart* nccl = nullptr);

  bool step(std::int64_t measure_from);  // true if anything moved
  void set_limit(std::uint64_t limit) { limit_ = limit; }
  // Ends the stream: sends no further data, then one end marker for each receive that may be
  // posted.
  void end() {
    limit_ = posted() + (offered_ ? 1 : 0);
    end_markers_ = inflight_;
  }
  void mark_next();  // prepares the next message while the clock is stopped
  bool idle() const { return lane_.under_way() == 0 && posted() >= limit_ + end_markers_; }
  std::uint64_t posted() const { return lane_.posted(); }
  const Histogram& times() const { return histogram_; }
  Slots& slots() { return lane_.slots(); }

 private:
  bool post();

  std::size_t size_;
  std::uint64_t inflight_;
  Payload payload_;
  Lane lane_;
  std::atomic<std::int64_t>* times_;
  std::vector<std::int64_t> offered_at_;  // of the messages under way
  OperationFeed feed_;
  std::uint64_t limit_ = 0;
  std::uint64_t end_markers_ = 0;
  std::uint64_t marked_ = 0;  // messages that have been written to their slots
  bool offered_ = false;      // the plugin did not take the next message yet
  Histogram histogram_;
};

class RecvFlow {
 public:
  RecvFlow(NetPlugin& net, const Link& link, const BenchCase& bench_case,
           std::atomic<std::int64_t>* times, NcclPart* nccl = nullptr);

  bool step(std::int64_t measure_from);
  bool unchecked() const;  // a message waits to be checked
  bool check_some();       // checks at most 64 KiB; false if nothing waits
  bool starved() const;    // needs a check before it can post the next receive
  void set_limit(std::uint64_t limit) { limit_ = limit; }
  bool finished() const;
  std::uint64_t received() const { return received_; }
  std::size_t size() const { return size_; }
  Mismatch mismatch() const;
  const Histogram& times() const { return histogram_; }
  Slots& slots() { return lane_.slots(); }

 private:
  void complete(int size, std::int64_t measure_from);
  std::uint64_t freed() const;  // messages whose slot may be used again
  void check_message_end(std::uint64_t message);

  std::size_t size_;
  std::uint64_t inflight_;
  bool check_;
  bool optional_;
  Payload payload_;
  Lane lane_;
  std::unique_ptr<LinePollers> pollers_;  // null where messages are plain
  std::atomic<std::int64_t>* times_;
  OperationFeed feed_;
  std::uint64_t limit_ = kNoLimit;
  std::uint64_t received_ = 0;
  std::uint64_t ends_ = 0;
  std::uint64_t checked_ = 0;      // messages
  std::size_t checked_bytes_ = 0;  // of the message being checked
  Mismatch mismatch_;
  Histogram histogram_;
};

}  // namespace dlcp::cli
