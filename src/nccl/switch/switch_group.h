// A group of ranks that performs some of its all-reduces in a switch: sums of float32 whose length
// NCCL reports. All others, and those with values that SwitchML cannot represent, use the group's
// own algorithm, which is exact. The choice depends only on facts that are the same on all ranks:
// the call's type and operation; whether NCCL reports lengths to all of them, on which they vote
// once; and the switch's answer that a rank has such values.
//
// Calls are executed in order. Consecutive calls of one kind follow each other without a pause if
// the method permits; the first call of the other kind waits until they have finished. During that
// time the group's connections are watched (collective/exchange/watched).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collective/calls/transfer.h"
#include "engine/group/group.h"
#include "nccl/switch/switch_line.h"
#include "nccl/switch/switch_opening.h"
#include "util/result.h"

namespace dlcp::nccl {

class SwitchGroup {
 public:
  struct Terms {
    std::uint64_t communicator = 0;  // NCCL's identifier; 0: unknown
    unsigned ranks = 0;
    unsigned rank = 0;
    SwitchTimes times;
  };
  struct Counts {
    std::uint64_t by_switch = 0;  // calls
    std::uint64_t refused = 0;    // of them, because of their values
    std::uint64_t otherwise = 0;
  };

  // `group` has just been opened, its algorithm is Watched, and it must outlive this object. Either
  // all ranks succeed, or all fail with the same error, which names the rank and the cause. `name`
  // is the value of DLCP_COLLNET_SWITCH.
  static Result<std::unique_ptr<SwitchGroup>> open(engine::Group& group, const std::string& name,
                                                   const Terms& terms);
  ~SwitchGroup();

  // Like Group::start(); a `call.tensor` of 0 means that its length is unknown.
  Result<std::optional<std::uint64_t>> start(const collective::Call& call);
  Result<bool> finished(std::uint64_t call);
  void release_memory(const engine::Memory& registered);
  // Must be called before the group's close(). True if calls were unfinished.
  bool close();

  const std::string& switch_name() const { return line_->name(); }
  Counts counts();
  const collective::SwitchWorker::Counts& packets() const { return line_->counts(); }
  std::string take_change();  // why no sum uses the switch; returned once

 private:
  enum class Way : std::uint8_t { kUndecided, kSwitch, kGroup };
  struct Entry {
    collective::Call call;
    Way way = Way::kGroup;
    bool started = false;
    bool done = false;
    bool is_vote = false;
    std::uint64_t number = 0;  // in the group
  };
  enum class Lengths : std::uint8_t { kUnknown, kVoted, kTold, kNotTold };

  SwitchGroup(engine::Group& group, std::unique_ptr<SwitchLine> line, SwitchClaim claim,
              const Terms& terms);

  Way way_of(const collective::Call& call);
  void vote(bool told);
  void drive();
  void look_at_switch(Time now);
  void look_at_group(Time now);
  void on_vote();
  void start_what_may();
  bool start_by_switch(Entry& entry, Time now);
  bool start_by_group(Entry& entry);
  bool pause_group();  // false: try again later
  void fail(const Error& why);
  void fail_here(const Error& why);

  engine::Group& group_;
  const std::unique_ptr<SwitchLine> line_;
  const SwitchClaim claim_;
  const Terms terms_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the first one has number first_
  std::uint64_t first_ = 0;
  std::size_t begun_ = 0;     // number of entries_ that have started
  Entry* summing_ = nullptr;  // in the switch now
  std::size_t by_group_ = 0;  // started in the group and not finished
  bool watched_ = false;
  Time watched_at_{};
  Lengths lengths_ = Lengths::kUnknown;
  std::int32_t votes_[2] = {0, 0};  // this rank's, and the sum
  std::string news_;
  Counts counts_;
  std::optional<Error> failed_;
  bool closed_ = false;
};

}  // namespace dlcp::nccl
