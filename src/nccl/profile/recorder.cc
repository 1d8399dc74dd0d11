#include "nccl/profile/recorder.h"

#include <algorithm>

#include "nccl/profiler/event_handle.h"

namespace dlcp::nccl {
namespace {

constexpr std::size_t kCollectivesMax = 4096;  // in flight, or enqueued ahead
constexpr std::size_t kOperationsMax = 16384;
constexpr std::size_t kCommunicatorsMax = 1024;
constexpr std::size_t kKindsMax = 1024;
constexpr std::size_t kCopiedAtOnce = 512;  // records, in about 10 us

}  // namespace

std::uint32_t Recorder::add_communicator(const whatif::Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  if (communicators_.size() == kCommunicatorsMax) return 0;
  communicators_.push_back(communicator);
  started_.emplace_back();
  return static_cast<std::uint32_t>(communicators_.size() - 1);
}

std::uint32_t Recorder::kind_index(const whatif::Kind& kind) {
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  if (found != kinds_.end()) return static_cast<std::uint32_t>(found - kinds_.begin());
  if (kinds_.size() == kKindsMax) return 0;
  kinds_.push_back(kind);
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

// Ranks have different numbers of sends and receives, but the same collectives.
std::uint64_t Recorder::next_sequence(const whatif::Record& record) {
  Started& started = started_[record.communicator];
  return kinds_[record.kind].is_point_to_point() ? ++started.point_to_point : ++started.collectives;
}

Recorder::Collective* Recorder::collective_of(std::uint64_t number) {
  if (collectives_.empty() || number == 0) return nullptr;
  Collective& slot = collectives_[number % kCollectivesMax];
  return slot.number == number ? &slot : nullptr;
}

Recorder::Operation* Recorder::operation_of(Handle event) {
  if (operations_.empty() || number_of(event) == 0) return nullptr;
  Operation& slot = operations_[number_of(event) % kOperationsMax];
  return slot.number == number_of(event) ? &slot : nullptr;
}

Recorder::Handle Recorder::start_collective(Time now, std::uint32_t communicator,
                                            const whatif::Kind& kind, std::uint64_t bytes,
                                            Handle inner) {
  const std::lock_guard lock(mutex_);
  if (communicator >= communicators_.size()) return 0;
  if (collectives_.empty()) {
    collectives_.resize(kCollectivesMax);
    operations_.resize(kOperationsMax);
    records_.resize(kRecordsMax);
  }
  const std::uint64_t number = ++collectives_started_ & kNumberMask;
  Collective& slot = collectives_[number % kCollectivesMax];
  slot = {};
  slot.number = number;
  slot.inner = inner;
  slot.record.communicator = communicator;
  slot.record.kind = kind_index(kind);
  slot.record.sequence = next_sequence(slot.record);
  slot.record.bytes = bytes;
  slot.record.enqueued_ns = ns_of(now);
  return event_handle(EventKind::kCollective, number);
}

void Recorder::begin(Time now, Collective& collective, std::uint64_t bit) {
  whatif::Record& record = collective.record;
  // The same channel again after everything has ended: a graph is replayed.
  if (collective.ended() && (collective.seen & bit) != 0) {
    record.sequence = next_sequence(record);
    record.enqueued_ns = ns_of(now);
    record.blocked_ns = 0;
    collective.place = collective.seen = collective.observed = collective.outstanding = 0;
    collective.open_kernels = collective.open_operations = 0;
    collective.begun = collective.kernels = false;
  }
  collective.seen |= bit;
}

Recorder::Handle Recorder::start_operation(Time now, Handle parent, std::uint8_t channel,
                                           bool sends, Handle inner) {
  if (kind_of(parent) != EventKind::kCollective) return 0;
  const std::lock_guard lock(mutex_);
  Collective* const collective = collective_of(number_of(parent));
  if (collective == nullptr) return 0;
  begin(now, *collective, std::uint64_t{1} << (32 + (channel * 2u + (sends ? 1u : 0u)) % 32));
  ++collective->open_operations;
  if (!collective->begun) {
    collective->record.start_ns = collective->record.end_ns = ns_of(now);
    collective->begun = true;
  }
  const std::uint64_t number = ++operations_started_ & kNumberMask;
  const bool observed = !sends && collective->observed == 0;
  if (observed) collective->observed = number;
  operations_[number % kOperationsMax] = {number, collective->number, inner, observed};
  return event_handle(EventKind::kOperation, number);
}

Recorder::Handle Recorder::start_kernel(Time now, Handle parent, std::uint8_t channel) {
  if (kind_of(parent) != EventKind::kCollective) return 0;
  const std::lock_guard lock(mutex_);
  Collective* const collective = collective_of(number_of(parent));
  if (collective == nullptr) return 0;
  begin(now, *collective, std::uint64_t{1} << channel % 32);
  ++collective->open_kernels;
  if (!collective->kernels) {
    // NCCL's proxy begins when the collective is enqueued, maybe long before the GPU reaches it.
    collective->record.start_ns = collective->record.end_ns = ns_of(now);
    collective->kernels = kernels_ = collective->begun = true;
  }
  return event_handle(EventKind::kKernel, collective->number, channel + std::uint64_t{1});
}

Recorder::Handle Recorder::start_step(Handle operation, std::uint32_t step) {
  if (kind_of(operation) != EventKind::kOperation || step > kStepMask) return 0;
  const std::lock_guard lock(mutex_);
  const Operation* const found = operation_of(operation);
  if (found == nullptr || (!found->observed && found->inner == 0)) return 0;
  return event_handle(EventKind::kStep, found->number, step);
}

void Recorder::receive_posted(Time now, Handle step) {
  if (kind_of(step) != EventKind::kStep) return;
  const std::lock_guard lock(mutex_);
  const Operation* const operation = operation_of(step);
  if (operation == nullptr || !operation->observed) return;
  Collective* const collective = collective_of(operation->collective);
  if (collective == nullptr || collective->observed != operation->number) return;
  if (collective->outstanding == 0) collective->blocked_since_ns = ns_of(now);
  collective->outstanding |= std::uint64_t{1} << step_of_handle(step) % 64;
}

void Recorder::receive_arrived(Time now, Handle step) {
  if (kind_of(step) != EventKind::kStep) return;
  const std::lock_guard lock(mutex_);
  const Operation* const operation = operation_of(step);
  if (operation == nullptr || !operation->observed) return;
  Collective* const collective = collective_of(operation->collective);
  if (collective == nullptr || collective->outstanding == 0) return;
  collective->outstanding &= ~(std::uint64_t{1} << step_of_handle(step) % 64);
  if (collective->outstanding != 0) return;
  // A receive is posted before the kernel runs; only the time within the collective counts.
  const std::int64_t since = std::max(collective->blocked_since_ns, collective->record.start_ns);
  collective->record.blocked_ns += std::max<std::int64_t>(0, ns_of(now) - since);
}

void Recorder::stop(Time now, Handle event) {
  const std::lock_guard lock(mutex_);
  if (kind_of(event) == EventKind::kOperation) {
    const Operation* const operation = operation_of(event);
    Collective* const collective =
        operation == nullptr ? nullptr : collective_of(operation->collective);
    if (collective != nullptr) end(now, *collective, false);
  } else if (kind_of(event) == EventKind::kKernel) {
    if (Collective* const collective = collective_of(number_of(event))) end(now, *collective, true);
  }
}

void Recorder::end(Time now, Collective& collective, bool kernel) {
  std::uint32_t& open = kernel ? collective.open_kernels : collective.open_operations;
  if (open == 0) return;
  --open;
  if (!kernel && collective.kernels) return;
  collective.record.end_ns = ns_of(now);
  if (collective.ended()) write(collective);
}

void Recorder::write(Collective& collective) {
  const bool kept = collective.place != 0 && collective.place + kRecordsMax > recorded_;
  if (collective.place != 0 && !kept) return;
  if (!kept) collective.place = ++recorded_;
  records_[collective.place % kRecordsMax] = collective.record;
}

Recorder::Handle Recorder::inner_of(Handle event) {
  const std::lock_guard lock(mutex_);
  if (kind_of(event) == EventKind::kCollective) {
    const Collective* const collective = collective_of(number_of(event));
    return collective == nullptr ? 0 : collective->inner;
  }
  const Operation* const operation = operation_of(event);
  return operation == nullptr || kind_of(event) == EventKind::kKernel ? 0 : operation->inner;
}

std::uint64_t Recorder::recorded() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void Recorder::copy_to(whatif::Run& run) {
  std::uint64_t next = 1;
  std::uint64_t end = 1;
  {
    const std::lock_guard lock(mutex_);
    run.communicators = communicators_;
    run.kinds = kinds_;
    run.collectives = recorded_;
    run.starts = kernels_ ? "kernel" : "proxy";
    end = recorded_ + 1;
    next = end > kRecordsMax ? end - kRecordsMax : 1;
  }
  run.records.reserve(static_cast<std::size_t>(end - next));
  while (next < end) {
    const std::lock_guard lock(mutex_);
    // Records may have been overwritten since the lock was last held.
    if (recorded_ >= kRecordsMax) next = std::max(next, recorded_ - kRecordsMax + 1);
    for (std::size_t i = 0; i < kCopiedAtOnce && next < end; i++, next++)
      run.records.push_back(records_[next % kRecordsMax]);
  }
  // Kinds and communicators may have been added meanwhile, but only for records beyond `end`; a
  // record that is updated keeps them.
}

}  // namespace dlcp::nccl
