#include "engine/live/monitor.h"

#include <algorithm>
#include <utility>

#include "core/bounded_loss/loss_ledger.h"

namespace dlcp::engine {
namespace {

constexpr Duration kPeriod = 200ms;

void copy_counters(const core::Counters& counters,
                   std::array<std::uint64_t, core::kCounterCount>& row) {
  for (const core::CounterRow& counter : core::kCounterRows)
    row[static_cast<std::size_t>(counter.counter)] = counters[counter.counter];
}

}  // namespace

void ContextSummary::merge(const ContextSummary& other) {
  counters.add(other.counters);
  sends.merge(other.sends);
  receives.merge(other.receives);
  licensed_bytes += other.licensed_bytes;
  lost_bytes += other.lost_bytes;
  budget_used_ppm = std::max(budget_used_ppm, other.budget_used_ppm);
}

Monitor::Monitor(std::shared_ptr<LiveRows> rows, std::string device, std::string datapath)
    : rows_(std::move(rows)), device_(std::move(device)), datapath_(std::move(datapath)) {
  if (rows_ == nullptr) return;
  device_row_ = rows_->take_device();
  if (!device_row_) report_missing(1);
}

Monitor::~Monitor() {
  for (const auto& [id, context] : contexts_)
    if (context.row) rows_->give_back_communicator(*context.row);
  for (const std::size_t row : path_rows_)
    rows_->give_back_path(row);
  if (device_row_) rows_->give_back_device(*device_row_);
  report_missing(0);
}

void Monitor::report_missing(std::size_t rows) {
  const std::size_t before = std::exchange(missing_, rows);
  if (before != rows) rows_->add_missing(static_cast<std::uint32_t>(rows - before));
}

void Monitor::describe(core::ContextId context, const ContextDescription& description) {
  contexts_[context].description = description;
  changed();
}

void Monitor::completed(const Completion& completion) {
  Context& context = contexts_[completion.context];
  ContextSummary& summary = context.summary;
  (completion.sends ? summary.sends : summary.receives).add(completion.took);
  changed();
  const core::Licence& licence = completion.licence;
  if (completion.sends || licence.collective == 0) return;
  summary.licensed_bytes += completion.bytes;
  if (completion.lost == 0) return;
  summary.lost_bytes += completion.lost;
  if (licence.pool != nullptr) {  // shared by all connections of the group
    const std::uint64_t granted = std::max<std::uint64_t>(licence.pool->granted(), 1);
    summary.budget_used_ppm =
        std::max(summary.budget_used_ppm, licence.pool->spent() * core::kBudgetScale / granted);
    return;
  }
  const std::uint64_t budget =
      std::max<std::uint64_t>(core::LossLedger::budget(licence, completion.bytes), 1);
  summary.budget_used_ppm = std::max(summary.budget_used_ppm,
                                     completion.contributions_lost * core::kBudgetScale / budget);
}

ContextSummary Monitor::summary(core::ContextId context, const core::Endpoint& endpoint) const {
  const auto found = contexts_.find(context);
  ContextSummary summary = found == contexts_.end() ? ContextSummary{} : found->second.summary;
  summary.counters = endpoint.counters(context);
  return summary;
}

void Monitor::forget(core::ContextId context, const core::Endpoint& endpoint) {
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return;
  const ContextSummary activity = summary(context, endpoint);
  std::optional<std::size_t> row = found->second.row;
  contexts_.erase(found);
  if (activity.sends.count() + activity.receives.count() > 0) {
    Context& ended = contexts_[kEnded];
    ended.summary.merge(activity);
    if (!ended.row) ended.row = std::exchange(row, std::nullopt);
    if (device_row_) show_context(kEnded, ended, endpoint);
  }
  if (row) rows_->give_back_communicator(*row);
}

void Monitor::show(Time now, const core::Endpoint& endpoint, const datapath::Datapath& datapath) {
  next_ = now + kPeriod;
  changed_ = false;
  if (!device_row_) return;
  show_device(endpoint, datapath);
  for (auto& [id, context] : contexts_)
    show_context(id, context, endpoint);
  report_missing(static_cast<std::size_t>(std::ranges::count_if(
      contexts_, [](const auto& entry) { return !entry.second.row.has_value(); })));
  const std::uint32_t asked = rows_->page().head.paths_wanted.load(std::memory_order_relaxed);
  if (std::exchange(paths_asked_, asked) != asked) show_paths(endpoint, datapath);
}

void Monitor::show_device(const core::Endpoint& endpoint, const datapath::Datapath& datapath) {
  LiveDevice row;
  row.name = device_;
  row.datapath = datapath_;
  row.address = datapath.describe(datapath.local_address());
  copy_counters(endpoint.counters(), row.counters);
  auto shown = row.datapath_counts.begin();
  for (const datapath::NamedCount& count : datapath.counts()) {
    if (shown == row.datapath_counts.end()) break;
    shown->name = count.name;
    shown++->value = count.value;
  }
  rows_->page().devices[*device_row_].write(row);
}

void Monitor::show_context(core::ContextId id, Context& context, const core::Endpoint& endpoint) {
  if (!context.row) context.row = rows_->take_communicator();
  if (!context.row) return;
  LiveCommunicator row;
  row.context = id;
  row.communicator = context.description.communicator;
  row.device = static_cast<std::uint32_t>(*device_row_);
  row.rank = context.description.rank;
  row.ranks = context.description.ranks;
  row.budget_ppm = context.description.budget_ppm;
  if (id != kEnded)
    row.exact_because = exact_ ? "made exact by `dlcp exact`" : context.description.exact_because;
  row.all_reduce = context.description.all_reduce;
  if (const auto& blocks = context.description.blocks; blocks != nullptr) {
    row.blocks_whole = blocks->whole.load(std::memory_order_relaxed);
    row.blocks_partial = blocks->partial.load(std::memory_order_relaxed);
  }
  copy_counters(id == kEnded ? context.summary.counters : endpoint.counters(id), row.counters);
  row.licensed_bytes = context.summary.licensed_bytes;
  row.lost_bytes = context.summary.lost_bytes;
  row.budget_used_ppm = context.summary.budget_used_ppm;
  row.sends = context.summary.sends;
  row.receives = context.summary.receives;
  rows_->page().communicators[*context.row].write(row);
}

void Monitor::show_paths(const core::Endpoint& endpoint, const datapath::Datapath& datapath) {
  const auto states = endpoint.path_states();
  while (path_rows_.size() < states.size()) {
    const auto row = rows_->take_path();
    if (!row) break;
    path_rows_.push_back(*row);
  }
  for (std::size_t i = 0; i < path_rows_.size(); ++i) {
    auto& slot = rows_->page().paths[path_rows_[i]];
    if (i >= states.size()) {
      slot.clear();
      continue;
    }
    const core::PathState& state = states[i];
    LivePath row;
    row.association = state.association;
    row.device = static_cast<std::uint32_t>(*device_row_);
    row.path = state.path;
    row.avoided = state.avoided ? 1 : 0;
    row.tuple = datapath.describe_path(state.peer, state.path);
    row.sent = state.sent;
    row.lost_ppm = static_cast<std::uint64_t>(state.loss * 1e6);
    row.delay_ns = static_cast<std::uint64_t>(state.delay.count());
    slot.write(row);
  }
}

}  // namespace dlcp::engine
