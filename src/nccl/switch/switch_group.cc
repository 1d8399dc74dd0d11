#include "nccl/switch/switch_group.h"

#include <algorithm>
#include <utility>

#include "collective/exchange/watched.h"
#include "engine/host/clock.h"

namespace dlcp::nccl {
namespace {

constexpr Duration kWatchPause = 200us;  // between two checks of the group while the switch adds

std::span<const float> floats_of(const collective::Call& call) {
  return {reinterpret_cast<const float*>(call.input.data()), call.real_bytes / sizeof(float)};
}

std::span<float> floats_of_result(const collective::Call& call) {
  return {reinterpret_cast<float*>(call.result.data()), call.real_bytes / sizeof(float)};
}

// For a call without a length after all ranks had one.
Error length_lost() {
  return {ErrorCode::kInternal,
          "tensor lengths are no longer known, but sums in the switch need them: NCCL's profiler "
          "does not report them, or a communicator of this process uses the connections of its "
          "parent (splitShare)",
          "unset DLCP_COLLNET_SWITCH on all ranks, or do not use splitShare"};
}

}  // namespace

SwitchGroup::SwitchGroup(engine::Group& group, std::unique_ptr<SwitchLine> line, SwitchClaim claim,
                         const Terms& terms)
    : group_(group), line_(std::move(line)), claim_(std::move(claim)), terms_(terms) {
  group_.register_memory(
      {reinterpret_cast<std::byte*>(votes_), sizeof votes_, static_cast<const void*>(votes_)});
}

Result<std::unique_ptr<SwitchGroup>> SwitchGroup::open(engine::Group& group,
                                                       const std::string& name,
                                                       const Terms& terms) {
  SwitchOpening opening(group, {name, terms.communicator, terms.rank}, terms.ranks);
  auto line = opening.run(terms.times);
  if (!line) return line.error();
  return std::unique_ptr<SwitchGroup>(
      new SwitchGroup(group, std::move(line).value(), opening.keep_claim(), terms));
}

SwitchGroup::~SwitchGroup() {
  close();
  SwitchClaims::of_process().give_back(claim_);
}

Result<std::optional<std::uint64_t>> SwitchGroup::start(const collective::Call& call) {
  const std::lock_guard lock(mutex_);
  const Way way = way_of(call);
  if (failed_) return *failed_;
  Entry entry;
  entry.call = call;
  entry.way = way;
  entries_.push_back(entry);
  const std::uint64_t number = first_ + entries_.size() - 1;
  drive();
  if (failed_) return *failed_;
  return std::optional(number);
}

Result<bool> SwitchGroup::finished(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  const auto is_done = [&] { return call < first_ || entries_[call - first_].done; };
  if (!is_done() && !failed_) drive();
  if (is_done()) return true;
  if (failed_) return *failed_;
  return false;
}

SwitchGroup::Way SwitchGroup::way_of(const collective::Call& call) {
  if (call.type != collective::DataType::kFloat32 || call.op != collective::ReduceOp::kSum ||
      lengths_ == Lengths::kNotTold)
    return Way::kGroup;
  const bool told = call.tensor != 0;
  if (lengths_ == Lengths::kUnknown) vote(told);
  if (!told && lengths_ == Lengths::kTold) fail_here(length_lost());
  return lengths_ == Lengths::kTold ? Way::kSwitch : Way::kUndecided;
}

// Before the first sum, the ranks vote on whether all know lengths. A rank that does not cannot sum
// in the switch, because only the other ranks know where the tensor ends.
void SwitchGroup::vote(bool told) {
  lengths_ = Lengths::kVoted;
  votes_[0] = told ? 1 : 0;
  Entry entry;
  entry.is_vote = true;
  entry.call.input = std::as_bytes(std::span(votes_).first(1));
  entry.call.result = std::as_writable_bytes(std::span(votes_).last(1));
  entry.call.real_bytes = sizeof votes_[0];
  entry.call.type = collective::DataType::kInt32;
  entries_.push_back(entry);
}

void SwitchGroup::on_vote() {
  const bool all = votes_[1] == static_cast<std::int32_t>(terms_.ranks);
  lengths_ = all ? Lengths::kTold : Lengths::kNotTold;
  if (!all) {
    news_ =
        "NCCL does not report tensor lengths to all ranks (NCCL 2.28 or newer does, if no other "
        "profiler is loaded and no communicator uses the connections of its parent, splitShare)";
  }
  for (Entry& entry : entries_) {
    if (entry.way == Way::kUndecided) {
      entry.way = all ? Way::kSwitch : Way::kGroup;
      if (all && entry.call.tensor == 0) fail_here(length_lost());
    }
  }
}

void SwitchGroup::drive() {
  if (failed_) return;
  const Time now = engine::steady_now();
  look_at_switch(now);
  look_at_group(now);
  if (!failed_) start_what_may();
  while (!entries_.empty() && entries_.front().done) {
    entries_.pop_front();
    ++first_;
    --begun_;
  }
}

void SwitchGroup::look_at_switch(Time now) {
  if (summing_ == nullptr) return;
  if (const auto driven = line_->drive(now); !driven) return fail_here(driven.error());
  using Call = collective::SwitchWorker::Call;
  if (line_->call() == Call::kDone) {
    summing_->done = true;
    ++counts_.by_switch;
  } else if (line_->call() == Call::kRefused) {
    summing_->way = Way::kGroup;  // the same on all ranks; it starts next
    summing_->started = false;
    --begun_;
    ++counts_.refused;
  } else {
    return;
  }
  summing_ = nullptr;
}

// While the switch adds, checks from time to time that all ranks are alive.
void SwitchGroup::look_at_group(Time now) {
  if (summing_ != nullptr && now - watched_at_ >= kWatchPause) {
    watched_at_ = now;
    if (const auto stands = group_.finished(collective::Watched::kPauseNumber); !stands)
      return fail(stands.error());
  }
  for (Entry& entry : entries_) {
    if (by_group_ == 0 || !entry.started) return;
    if (entry.way != Way::kGroup || entry.done) continue;
    const auto done = group_.finished(entry.number);
    if (!done) return fail(done.error());
    entry.done = done.value();
    if (entry.done) {
      --by_group_;
      if (entry.is_vote) on_vote();
    }
  }
}

void SwitchGroup::start_what_may() {
  const Time now = engine::steady_now();
  for (; begun_ < entries_.size() && !failed_; ++begun_) {
    Entry& entry = entries_[begun_];
    const bool starts = entry.way == Way::kSwitch  ? start_by_switch(entry, now)
                        : entry.way == Way::kGroup ? start_by_group(entry)
                                                   : false;
    if (!starts) return;
    entry.started = true;
  }
}

bool SwitchGroup::start_by_switch(Entry& entry, Time now) {
  if (summing_ != nullptr || by_group_ > 0) return false;
  if (entry.call.real_bytes == 0) {  // after the tensor's end: the result is not read
    entry.done = true;
    return true;
  }
  if (!watched_ && !pause_group()) return false;
  if (!line_->start(floats_of(entry.call), floats_of_result(entry.call), now)) {
    fail_here({ErrorCode::kInternal, "the switch's worker rejected a call",
               "this is a bug of DLCP; please report "
               "this message"});
    return false;
  }
  summing_ = &entry;
  if (const auto driven = line_->drive(now); !driven) fail_here(driven.error());
  return true;
}

bool SwitchGroup::start_by_group(Entry& entry) {
  if (summing_ != nullptr) return false;
  const auto started = group_.start(entry.call);
  if (!started) {
    fail(started.error());
    return false;
  }
  if (!started.value()) return false;
  watched_ = false;
  entry.number = *started.value();
  ++by_group_;
  counts_.otherwise += entry.is_vote ? 0 : 1;
  return true;
}

bool SwitchGroup::pause_group() {
  const auto paused = group_.start({});
  if (!paused) fail(paused.error());
  watched_ = paused && paused.value();
  return watched_;
}

void SwitchGroup::fail(const Error& why) {
  if (!failed_) failed_ = why;
}

// The group passes the failure on to the other ranks, and reports it.
void SwitchGroup::fail_here(const Error& why) {
  fail(why);
  group_.fail(why);
}

void SwitchGroup::release_memory(const engine::Memory& registered) {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    // Nothing accesses the memory any more, because a failed group drives nothing.
    if (!entry.done && engine::uses(entry.call, registered)) fail_here(engine::memory_lost());
  }
}

bool SwitchGroup::close() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  closed_ = true;
  const bool unfinished =
      failed_ || std::ranges::any_of(entries_, [](const Entry& entry) { return !entry.done; });
  if (unfinished) fail_here(engine::aborted());
  group_.release_memory(
      {reinterpret_cast<std::byte*>(votes_), sizeof votes_, static_cast<const void*>(votes_)});
  fail({ErrorCode::kInternal, "the communicator's direct exchange is closed", ""});
  return unfinished;
}

SwitchGroup::Counts SwitchGroup::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string SwitchGroup::take_change() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace dlcp::nccl
