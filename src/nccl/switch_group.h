// A group of ranks some of whose all-reduces go through a switch: sums of float32 whose length NCCL
// tells. All others, and those with values that SwitchML cannot express, go by the group's own
// algorithm, which is exact. Which way a call goes hangs on nothing that ranks might see
// differently: its type and operation; whether all of them are told lengths, which they vote on
// once; and the switch's word that some rank has such values.
//
// Calls are executed in order. Those of one way follow each other without a pause where the way
// permits; the first of the other waits until they have finished. In the meantime the group's
// connections are watched (collective/watched).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collective/transfer.h"
#include "engine/group.h"
#include "nccl/switch_line.h"
#include "util/result.h"

namespace dlcp::nccl {

class SwitchGroup {
 public:
  struct Terms {
    unsigned ranks = 0;
    unsigned rank = 0;
    Duration setup_timeout{};  // that the switch has to answer all ranks
    Duration peer_timeout{};
  };
  struct Counts {
    std::uint64_t by_switch = 0;  // calls
    std::uint64_t refused = 0;    // of them, for their values
    std::uint64_t otherwise = 0;
  };

  // Of a group that has just been opened, whose algorithm is Watched; outlived by it. All ranks
  // succeed, or all fail with the same words, which name the rank and the cause. `name`: what
  // DLCP_COLLNET_SWITCH says.
  static Result<std::unique_ptr<SwitchGroup>> open(engine::Group& group, const std::string& name,
                                                   const Terms& terms);
  ~SwitchGroup();

  // As the group's own; `call.tensor` 0 says that its length is not known.
  Result<std::optional<std::uint64_t>> start(const collective::Call& call);
  Result<bool> finished(std::uint64_t call);
  void release_memory(const engine::Memory& registered);
  // Before the group's own. True if calls were unfinished.
  bool close();

  const std::string& switch_name() const { return line_->name(); }
  Counts counts();
  // Once each: why no sum goes by the switch; and what has failed that is not the group's, which
  // tells of itself.
  std::string take_news();
  std::optional<Error> take_fault();

 private:
  enum class Way : std::uint8_t { kUndecided, kSwitch, kGroup };
  struct Entry {
    collective::Call call;
    Way way = Way::kGroup;
    bool started = false;
    bool done = false;
    bool is_vote = false;
    std::uint64_t number = 0;  // by the group
  };
  enum class Lengths : std::uint8_t { kUnknown, kVoted, kTold, kNotTold };

  SwitchGroup(engine::Group& group, std::unique_ptr<SwitchLine> line, std::string claim,
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
  void turn_group(std::uint64_t which);
  void fail(const Error& why);
  void fail_here(const Error& why);

  engine::Group& group_;
  const std::unique_ptr<SwitchLine> line_;
  const std::string claim_;
  const Terms terms_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the oldest has number first_
  std::uint64_t first_ = 0;
  std::size_t begun_ = 0;     // of entries_, started
  Entry* summing_ = nullptr;  // in the switch now
  std::size_t by_group_ = 0;  // started there, and not finished
  bool watched_ = false;
  Time watched_at_{};
  Lengths lengths_ = Lengths::kUnknown;
  std::int32_t votes_[2] = {0, 0};  // this rank's, and the sum
  std::string news_;
  Counts counts_;
  std::optional<Error> failed_;
  std::optional<Error> fault_;  // that nobody has taken
  bool closed_ = false;
};

}  // namespace dlcp::nccl
