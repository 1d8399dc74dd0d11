#include "engine/group/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/group/direct_licence.h"
#include "engine/host/clock.h"
#include "util/memory/overlap.h"

namespace dlcp::engine {
namespace {

constexpr int kBlocksPerStep = 4;      // reduced before the network is served again
constexpr std::size_t kLookAhead = 4;  // requests of a connection that may complete out of order
constexpr Duration kDrainsFor = 5s;    // enough for a live peer
// After all messages of this rank have arrived. What the others sent until then usually arrives
// within this time, even if it is sent again.
constexpr Duration kCrossesFor = 1s;

}  // namespace

bool uses(const collective::Call& call, const Memory& registered) {
  const std::span<const std::byte> memory(registered.data, registered.bytes);
  return overlap(call.input, memory) || overlap(call.result, memory);
}

Error memory_lost() {
  return {ErrorCode::kInvalidUsage, "memory of an unfinished all-reduce was deregistered",
          "this is expected only while a communicator aborts"};
}

Error aborted() {
  return {ErrorCode::kInternal, "the communicator was aborted during an all-reduce", ""};
}

Group::Staging::Staging(std::size_t size, bool kept_at_hubs)
    : bytes(size),
      at_hubs(kept_at_hubs),
      memory(kept_at_hubs ? nullptr : std::make_unique_for_overwrite<std::byte[]>(size)) {}

Group::Group(GroupLinks links, const MakeAlgorithm& make, Staging staging)
    : staging_(std::move(staging)),
      exchange_(make({staging_.memory.get(), staging_.at_hubs ? 0 : staging_.bytes})),
      links_(std::move(links)),
      lines_(links_.all().size()),
      orders_(std::size_t{links_.rails()} * 2) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].link = links_.all()[i];
    if (lines_[i].link.connection != nullptr) lines_[i].link.connection->waited_for = false;
    const auto& engine = lines_[i].link.engine;
    if (engine != nullptr && std::ranges::find(engines_, engine) == engines_.end())
      engines_.push_back(engine);
  }
  if (!staging_.at_hubs) register_memory({staging_.memory.get(), staging_.bytes, this});
}

Group::~Group() {
  close();
}

Result<std::optional<std::uint64_t>> Group::start(const collective::Call& call) {
  const std::lock_guard lock(mutex_);
  if (const auto failed = failure()) return *failed;
  const std::size_t needed = exchange_->staging_needed(call);
  if (needed > staging_.bytes) {
    give_up({ErrorCode::kInvalidUsage,
             fmt::format("an all-reduce of {} bytes over {} ranks{} takes {} bytes of staging{}, "
                         "but only {} are available",
                         call.input.size(), links_.members(), staging_.at_hubs ? " and hubs" : "",
                         needed, staging_.at_hubs ? " of each hub" : "", staging_.bytes),
             "raise DLCP_COLLNET_MEMORY on all ranks"});
    return *failed_;
  }
  const auto number = exchange_->start(call);
  if (number && !call.input.empty()) {  // no caller waits for a pause to finish
    calls_.push_back({*number, call});
    count_callers(1);
  }
  drive();
  if (const auto failed = failure()) return *failed;
  return number;
}

Result<bool> Group::finished(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  if (!exchange_->finished(call)) drive();
  if (exchange_->finished(call)) {
    const auto is_call = [&](const Started& each) { return each.number == call; };
    if (std::erase_if(calls_, is_call) > 0) count_callers(-1);
    return true;
  }
  if (const auto failed = failure()) return *failed;
  return false;
}

Result<bool> Group::serve(const Gate& gate) {
  const std::lock_guard lock(mutex_);
  if (!failure()) {
    const std::uint64_t before = moved_;
    gate_ = gate;
    drive();
    if (!failure()) return moved_ != before;
  }
  return *failed_;
}

bool Group::idle() {
  const std::lock_guard lock(mutex_);
  return exchange_->idle();
}

void Group::fail(const Error& why) {
  const std::lock_guard lock(mutex_);
  give_up(why);
}

// Every failure that no connection has reported ends here. Without the resets, the other ranks
// would wait without limit for this one, whose helper threads still answer them.
void Group::give_up(const Error& why) {
  if (failed_) return;
  failed_ = why;
  for (const Line& line : lines_)
    if (!closed_ && line.link.connection != nullptr)
      line.link.engine->fail_context(line.link.connection->context, why);
}

void Group::count_callers(int more) {
  for (const auto& engine : engines_)
    engine->count_callers(more);
}

void Group::drive() {
  if (failure()) return;
  for (const auto& engine : engines_)
    engine->drive();
  for (Line& line : lines_)
    harvest(line);
  if (failure()) return;  // the calls' memory may have been deregistered
  int block = 0;
  for (; block < kBlocksPerStep && exchange_->work(); ++block)
    exchange_->post_to(*this);
  if (block > 0) {
    moved_ += static_cast<std::uint64_t>(block);
    const auto reduced = exchange_->blocks();
    blocks_->whole.store(reduced.whole, std::memory_order_relaxed);
    blocks_->partial.store(reduced.partial, std::memory_order_relaxed);
  }
  exchange_->post_to(*this);
}

// Handles completions among the oldest few requests, so that the repair of one message does not
// delay other blocks.
void Group::harvest(Line& line) {
  std::size_t passed = 0;
  for (auto posted = line.posted.begin(); posted != line.posted.end() && passed < kLookAhead;) {
    Request* const request = posted->request;
    const auto state =
        request == nullptr ? Request::State::kDone : request->state.load(std::memory_order_acquire);
    if (state == Request::State::kPending) {
      ++posted;
      ++passed;
      continue;
    }
    if (state == Request::State::kFailed) {
      failed_ = line.link.connection->error;
      is_logged_ = true;
      return;
    }
    Request::Outcome outcome;
    if (request != nullptr) line.link.engine->test(*request, outcome);
    const collective::Transfer done = posted->transfer;
    posted = line.posted.erase(posted);
    ++moved_;
    exchange_->on_done(done, outcome.bytes, outcome.holes);
  }
}

bool Group::post(const collective::Transfer& transfer) {
  const std::size_t at = links_.index(transfer);
  Line& line = lines_[at];
  const auto has_sendable = [](const Line* each) {
    return each->link.engine->has_sendable(*each->link.connection);
  };
  if (failed_ ||
      (transfer.sends &&
       !orders_[links_.way(at)].admits(&line, exchange_->peers_at_once(), has_sendable)) ||
      (gate_.admits && !gate_.admits(transfer)))
    return false;
  if (leaves_ && transfer.sends && line.link.engine->peer_has_closed(*line.link.connection)) {
    line.posted.push_back({nullptr, transfer});  // the peer has left first, and does not need it
    return true;
  }
  const Memory memory{transfer.memory.data(), transfer.memory.size()};
  const core::Licence licence = direct_licence(transfer);
  auto posted = transfer.sends ? line.link.engine->send(*line.link.connection, memory, licence)
                               : line.link.engine->receive(*line.link.connection, memory, licence);
  if (!posted) {
    failed_ = posted.error();
    is_logged_ = true;
    return false;
  }
  if (posted.value() == nullptr) return false;
  if (gate_.posted) gate_.posted(transfer);
  line.posted.push_back({posted.value(), transfer});
  return true;
}

std::optional<Error> Group::failure() {
  if (closed_) give_up({ErrorCode::kInternal, "the communicator's direct exchange is closed", ""});
  if (!exchange_->disagreement().empty()) {
    give_up({ErrorCode::kInternal, exchange_->disagreement(),
             "please report this message: it is a bug of DLCP, or NCCL called all-reduces in "
             "different orders"});
  }
  return failed_;
}

std::optional<Error> Group::take_unlogged_failure() {
  const std::lock_guard lock(mutex_);
  return !failed_ || std::exchange(is_logged_, true) ? std::nullopt : failed_;
}

void Group::register_memory(const Memory& registered) {
  for (Line& line : lines_)
    if (line.link.connection != nullptr)
      line.link.engine->register_memory(*line.link.connection, registered);
}

void Group::release_memory(const Memory& registered) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::any_of(calls_, [&](const Started& each) {
        return !exchange_->finished(each.number) && uses(each.call, registered);
      }))
    give_up(memory_lost());
  for (Line& line : lines_)
    if (!closed_ && line.link.connection != nullptr)
      line.link.engine->release_memory(*line.link.connection, registered);
}

void Group::drain() {
  constexpr timespec kPause{0, 50'000};
  bool delivered = false;
  Time end = steady_now() + kDrainsFor;
  while (!exchange_->idle() && !failed_ && steady_now() < end) {
    drive();
    if (exchange_->delivered() && !std::exchange(delivered, true)) end = steady_now() + kCrossesFor;
    nanosleep(&kPause, nullptr);
  }
}

bool Group::close() {
  const std::lock_guard lock(mutex_);
  bool aborted = failed_.has_value() || exchange_->busy();
  if (closed_) return aborted;
  if (aborted) {
    give_up(engine::aborted());
  } else {
    leaves_ = true;
    exchange_->leave();
    drain();
    if (exchange_->delivered()) {
      for (const Line& line : lines_)
        if (!line.posted.empty()) line.link.engine->forgo_receives(*line.link.connection);
    } else {
      give_up({ErrorCode::kRemote,
               "the communicator was closed, but some ranks had not received its last results",
               "either they stopped, or the network is too slow"});
      aborted = true;
    }
  }
  closed_ = true;
  count_callers(-static_cast<int>(calls_.size()));
  for (Line& line : lines_) {
    if (line.link.connection != nullptr) {
      line.link.engine->release_memory(
          *line.link.connection,
          {staging_.memory.get(), staging_.at_hubs ? 0 : staging_.bytes, this});
      aborted = line.link.engine->close(line.link.connection) || aborted;
    }
  }
  return aborted;
}

}  // namespace dlcp::engine
