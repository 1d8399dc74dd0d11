#include "nccl/profiler/event_table.h"

#include <atomic>

#include "collective/reduce/element.h"
#include "nccl/profiler/event_handle.h"

namespace dlcp::nccl {
namespace {

// Enough for a step of a large model that the application has enqueued ahead on 32 channels.
constexpr std::size_t kCollectivesMax = 2048;
constexpr std::size_t kOperationsMax = 16384;

constexpr std::uint64_t kPointToPoint = 0;  // a number that no table uses
// Each table begins at another number.
constexpr unsigned kTableBits = 28;  // 268 million numbers before the next table's range begins
constinit std::atomic<std::uint64_t> next_table{0};

// nullptr unless the slot still holds the event of this handle.
template <class Slots>
auto* slot_of(Slots& slots, std::uint64_t handle) {
  const std::uint64_t number = number_of(handle);
  auto* slot = slots.empty() ? nullptr : &slots[number % slots.size()];
  return slot != nullptr && slot->number == number ? slot : nullptr;
}

}  // namespace

EventTable::EventTable(std::uint64_t comm_id, std::uint32_t ranks)
    : comm_id_(comm_id),
      ranks_(ranks),
      number_(next_table.fetch_add(1)),
      collectives_started_(number_ << kTableBits),
      operations_started_(collectives_started_) {}

std::uint64_t EventTable::next_number() {
  return next_table.load();
}

EventTable::EventHandle EventTable::point_to_point() {
  return event_handle(EventKind::kCollective, kPointToPoint);
}

EventTable::EventHandle EventTable::start_collective(Time now, const Collective& collective) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++collectives_started_ & kNumberMask;
  if (collectives_.empty()) {
    collectives_.resize(kCollectivesMax);
    operations_.resize(kOperationsMax);
  }
  const bool urgent = order_.started(now, collective);
  collectives_[number % kCollectivesMax] = {number, collective, urgent};
  return event_handle(EventKind::kCollective, number);
}

EventTable::EventHandle EventTable::start_operation(EventHandle collective,
                                                    const ProfiledProxyOp& operation) {
  if (collective == point_to_point()) return event_handle(EventKind::kOperation, kPointToPoint);
  const std::lock_guard lock(mutex_);
  const StartedCollective* of =
      kind_of(collective) == EventKind::kCollective ? slot_of(collectives_, collective) : nullptr;
  if (goes_to_network(operation)) {
    note_reduction(of, operation);
    return 0;  // its messages do not use the net plugin
  }
  if (of == nullptr || is_collnet(of->collective.algorithm)) return 0;
  const std::uint64_t number = ++operations_started_ & kNumberMask;
  operations_[number % kOperationsMax] = {number, *of, static_cast<std::uint32_t>(operation.nSteps),
                                          static_cast<std::size_t>(operation.chunkSize),
                                          operation.isSend != 0};
  return event_handle(EventKind::kOperation, number);
}

void EventTable::note_reduction(const StartedCollective* of, const ProfiledProxyOp& operation) {
  if (of == nullptr) {
    reductions_.on_unknown(Unmatched::kForgotten);
    return;
  }
  if (of->collective.algorithm != Algorithm::kCollnetChain ||
      of->collective.function != Function::kAllReduce || of->collective.nccl_type < 0) {
    reductions_.on_unknown(Unmatched::kForm);
    return;
  }
  const Collective& reduced = of->collective;
  const std::size_t element =
      collective::bytes_of(static_cast<collective::DataType>(reduced.nccl_type));
  reductions_.on_operation({of->number, operation.channelId, reduced.nccl_type,
                            reduced.count * element, static_cast<std::size_t>(operation.chunkSize),
                            static_cast<std::size_t>(operation.nSteps)});
}

std::optional<CallPart> EventTable::next_call(std::size_t bytes, int type, Unmatched& why_not) {
  const std::lock_guard lock(mutex_);
  const auto real = reductions_.next(bytes, type);
  why_not = reductions_.unmatched();
  return real ? std::optional(CallPart{*real, reductions_.reduction()}) : std::nullopt;
}

void EventTable::on_shared_connections() {
  const std::lock_guard lock(mutex_);
  reductions_.on_shared_connections();
}

EventTable::EventHandle EventTable::step_of(EventHandle operation, std::uint32_t step) {
  if (kind_of(operation) != EventKind::kOperation || step > kStepMask) return 0;
  return event_handle(EventKind::kStep, number_of(operation), step);
}

std::optional<OpContext> EventTable::find(EventHandle step) {
  if (kind_of(step) != EventKind::kStep) return std::nullopt;
  if (number_of(step) == kPointToPoint) return OpContext{};
  const std::lock_guard lock(mutex_);
  const Operation* found = slot_of(operations_, step);
  if (found == nullptr) return std::nullopt;
  OpContext context;
  context.operation = found->number;
  context.collective = found->of.collective;
  context.comm_id = comm_id_;
  context.ranks = ranks_;
  context.steps = found->steps;
  context.step = step_of_handle(step);
  context.chunk_bytes = found->chunk_bytes;
  context.sends = found->sends;
  context.urgent = found->of.urgent;
  context.communicator_class = communicator_class_.load();
  return context;
}

}  // namespace dlcp::nccl
