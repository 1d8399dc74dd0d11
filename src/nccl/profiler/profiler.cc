#include "nccl/profiler/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "engine/host/clock.h"
#include "nccl/collnet/direct_terms.h"
#include "nccl/context/communicators.h"
#include "nccl/profiler/event_handle.h"

namespace dlcp::nccl::profiler {
namespace {

static_assert(sizeof(void*) == sizeof(EventTable::EventHandle));

constexpr std::size_t kCommunicatorsMax = 4096;  // profiled at the same time in one process
// Identifies DLCP's questions among NCCL's events: type and version in the form that other plugins
// use. Types 1 and 2 are NCCL's.
constexpr std::int64_t kQuestionId = std::int64_t{0x444c} << 16 | 1;

constinit std::atomic<ProfilerCallback> net_callback{nullptr};
constinit std::mutex mutex;  // protects the variables below
constinit int* activation_mask = nullptr;
constinit std::array<std::atomic<std::size_t>, 2> wanted_by{};  // by Reason
constinit std::atomic<std::size_t> in_use_by{0};
constinit std::array<std::atomic<EventTable*>, kCommunicatorsMax> tables{};
// By table: the communicator's index in the profile.
constinit std::array<std::atomic<std::uint32_t>, kCommunicatorsMax> profiled_as{};
constinit std::size_t tables_end = 0;  // no place from here on was ever used

std::atomic<std::size_t>& wanted(Reason reason) {
  return wanted_by[static_cast<std::size_t>(reason)];
}
bool wanted_for(Reason reason) {
  return wanted(reason).load(std::memory_order_relaxed) > 0;
}

// NCCL reads it without a lock, at each call of its API.
void set_mask() {
  if (activation_mask != nullptr) {
    std::uint64_t mask = 0;
    mask |= wanted_for(Reason::kLoss) ? kProfileNetPlugin : 0;
    mask |= wanted_for(Reason::kDirect) ? kProfileProxyOp : 0;
    if (Profile::active() != nullptr)
      mask |= kProfileColl | kProfileP2p | kProfileProxyOp | kProfileProxyStep | kProfileKernelCh;
    __atomic_store_n(activation_mask, static_cast<int>(mask), __ATOMIC_RELAXED);
  }
}

struct Question {
  Owner owner;  // of the asking connection
  std::optional<OpContext> answer;
};

void* as_pointer(std::uint64_t number) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
}
std::uint64_t as_number(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

EventTable* table_of(void* context) {
  const std::uint64_t place = as_number(context);
  return place == 0 || place > tables.size() ? nullptr
                                             : tables[place - 1].load(std::memory_order_acquire);
}

// The table's handles have a purpose only then.
bool identifies() {
  return wanted_for(Reason::kLoss) || wanted_for(Reason::kDirect);
}

// The table's handle of a step.
std::uint64_t step_in_table(std::uint64_t step) {
  Profile* const profile = Profile::active();
  if (profile == nullptr) return step;
  return EventTable::step_of(profile->recorder().inner_of(step), step_of_handle(step));
}

// A communicator that shares another one's connections (splitShare) makes its all-reduces through
// them. NCCL does not say whose they are, so no table can tell its own calls from them any more.
// Such a communicator has no context, but NCCL 2.28.3 gives it one, which its connections do not
// use: there it is recognised by an all-reduce over the network without a group of its own.
// Called with the mutex.
void stop_matching_calls() {
  for (std::size_t i = 0; i < tables_end; ++i)
    if (EventTable* const table = tables[i].load(std::memory_order_relaxed))
      table->on_shared_connections();
}

// Called with the context's place in `tables` and its table, which exists.
template <class Record>
void* with_table(void* context, Record&& record) noexcept {
  void* handle = nullptr;
  guarded("profiler event", [&] {
    if (EventTable* table = table_of(context))
      handle = as_pointer(record(*table, as_number(context) - 1));
    return ResultCode::kSuccess;
  });
  return handle;
}

}  // namespace

void set_callback(ProfilerCallback callback) {
  net_callback.store(callback, std::memory_order_release);
}

bool has_callback() {
  return net_callback.load(std::memory_order_acquire) != nullptr;
}

void activate(Reason reason) {
  const std::lock_guard lock(mutex);
  wanted(reason).fetch_add(1, std::memory_order_relaxed);
  set_mask();
}

void deactivate(Reason reason) {
  const std::lock_guard lock(mutex);
  wanted(reason).fetch_sub(1, std::memory_order_relaxed);
  set_mask();
}

bool in_use() {
  return in_use_by.load(std::memory_order_relaxed) > 0;
}

bool activated() {
  return wanted_for(Reason::kLoss);
}

std::optional<CallPart> next_call(std::uint64_t comm_id, std::size_t bytes, int type,
                                  Unmatched& why_not) {
  why_not = Unmatched::kNot;
  if (!in_use()) return std::nullopt;
  const std::lock_guard lock(mutex);
  EventTable* found = nullptr;
  for (std::size_t i = 0; i < tables_end; ++i) {
    EventTable* const table = tables[i].load(std::memory_order_relaxed);
    if (table != nullptr && table->comm_id() == comm_id) {
      if (found != nullptr) return std::nullopt;
      found = table;
    }
  }
  return found == nullptr ? std::nullopt : found->next_call(bytes, type, why_not);
}

std::optional<OpContext> ask(void* phandle, const Owner& owner) {
  const ProfilerCallback callback = net_callback.load(std::memory_order_acquire);
  if (callback == nullptr || phandle == nullptr || !in_use()) return std::nullopt;
  Question question{owner, std::nullopt};
  void* event = nullptr;
  callback(&event, kProfilerNetEventStart, phandle, kQuestionId, &question);
  return question.answer;
}

ResultCode init(void** context, int* mask, std::uint64_t comm_id, int ranks, int rank,
                DebugLogger logger) noexcept {
  *context = nullptr;
  return guarded("profiler init", [&] {
    set_logger(logger);
    const bool has_context = Communicators::of_process().learn_rank(comm_id, rank, ranks);
    Profile* const profile = Profile::of_process();
    const std::lock_guard lock(mutex);
    activation_mask = mask;
    set_mask();
    if (!has_context) stop_matching_calls();
    for (std::size_t i = 0; i < tables.size() && ranks > 0; ++i) {
      if (tables[i].load(std::memory_order_relaxed) == nullptr) {
        tables[i].store(new EventTable(comm_id, static_cast<std::uint32_t>(ranks)),
                        std::memory_order_release);
        if (profile != nullptr)
          profiled_as[i] = profile->begin({comm_id, static_cast<std::uint32_t>(std::max(rank, 0)),
                                           static_cast<std::uint32_t>(ranks)});
        *context = as_pointer(i + 1);
        tables_end = std::max(tables_end, i + 1);
        ++in_use_by;
        break;
      }
    }
    return ResultCode::kSuccess;
  });
}

ResultCode finalize(void* context) noexcept {
  return guarded(
      "profiler finalize",
      [&] {
        bool ended = false;
        {
          const std::lock_guard lock(mutex);
          if (EventTable* table = table_of(context)) {
            // NCCL has joined all threads that could still have used it.
            tables[as_number(context) - 1].store(nullptr, std::memory_order_release);
            delete table;
            --in_use_by;
            ended = true;
          }
          if (in_use_by == 0) activation_mask = nullptr;  // NCCL may be unloaded
        }
        // Without the lock, because it may wait for the profile's thread.
        if (Profile* const profile = Profile::active(); profile != nullptr && ended) profile->end();
        return ResultCode::kSuccess;
      });
}

void* start_collective(void* context, const Collective& collective,
                       const ProfiledCall& call) noexcept {
  return with_table(
      context,
      [&](EventTable& table, std::size_t place) {
        const Time now = engine::steady_now();
        Profile* const profile = Profile::active();
        const std::uint64_t handle = profile == nullptr || identifies()
                                         ? table.start_collective(now, collective)
                                         : EventTable::EventHandle{0};
        return profile == nullptr
                   ? handle
                   : record_call(*profile, now, profiled_as[place], table.ranks(), call, handle);
      });
}

void* start_point_to_point(void* context, const ProfiledCall& call) noexcept {
  Profile* const profile = Profile::active();
  if (profile == nullptr) return as_pointer(EventTable::point_to_point());
  return with_table(context, [&](const EventTable& table, std::size_t place) {
    return record_call(*profile, engine::steady_now(), profiled_as[place], table.ranks(), call,
                       EventTable::point_to_point());
  });
}

void* start_kernel(void* collective, std::uint8_t channel) noexcept {
  void* handle = nullptr;
  guarded("profiler event", [&] {
    if (Profile* const profile = Profile::active())
      handle = as_pointer(
          profile->recorder().start_kernel(engine::steady_now(), as_number(collective), channel));
    return ResultCode::kSuccess;
  });
  return handle;
}

void* start_operation(void* context, void* collective, const ProfiledProxyOp& operation) noexcept {
  // An operation of another process carries that process's context and handles.
  if (operation.pid != getpid() || operation.nSteps <= 0 || operation.chunkSize <= 0)
    return nullptr;
  return with_table(context, [&](EventTable& table, std::size_t) {
    Profile* const profile = Profile::active();
    const std::uint64_t given = as_number(collective);
    const std::uint64_t parent = profile == nullptr ? given : profile->recorder().inner_of(given);
    const std::uint64_t handle = table.start_operation(parent, operation);
    if (table.goes_to_network(operation) && !DirectGroups::of_process().find(table.comm_id())) {
      const std::lock_guard lock(mutex);
      stop_matching_calls();
    }
    return profile == nullptr ? handle
                              : profile->recorder().start_operation(engine::steady_now(), given,
                                                                    operation.channelId,
                                                                    operation.isSend != 0, handle);
  });
}

void* start_step(void* operation, int step) noexcept {
  if (step < 0) return nullptr;
  const auto number = static_cast<std::uint32_t>(step);
  Profile* const profile = Profile::active();
  if (profile == nullptr) return as_pointer(EventTable::step_of(as_number(operation), number));
  void* handle = nullptr;
  guarded("profiler event", [&] {
    handle = as_pointer(profile->recorder().start_step(as_number(operation), number));
    return ResultCode::kSuccess;
  });
  return handle;
}

ResultCode stop_event(void* event) noexcept {
  Profile* const profile = Profile::active();
  if (profile == nullptr || event == nullptr) return ResultCode::kSuccess;
  return guarded("profiler event", [&] {
    profile->recorder().stop(engine::steady_now(), as_number(event));
    return ResultCode::kSuccess;
  });
}

ResultCode record_event_state(void* event, int state, void*) noexcept {
  Profile* const profile = Profile::active();
  if (profile == nullptr || event == nullptr) return ResultCode::kSuccess;
  return guarded("profiler event", [&] {
    if (state == kStepReceiveWait)
      profile->recorder().receive_posted(engine::steady_now(), as_number(event));
    else if (state == kStepReceiveFlushWait || state == kStepReceiveGpuWait)
      profile->recorder().receive_arrived(engine::steady_now(), as_number(event));
    return ResultCode::kSuccess;
  });
}

void answer(void* context, void* step, const ProfiledNetPlugin& question) noexcept {
  guarded(
      "profiler event",
      [&] {
        if (question.id == kQuestionId && question.data != nullptr && step != nullptr) {
          if (EventTable* table = table_of(context)) {
            auto& asked = *static_cast<Question*>(question.data);
            const Owner& owner = asked.owner;
            const bool is_owner = owner.comm_id != 0 ? owner.comm_id == table->comm_id()
                                                     : table->number() < owner.made_before;
            if (owner.communicator_class != kUndefined && is_owner)
              table->set_communicator_class(owner.communicator_class);
            asked.answer = table->find(step_in_table(as_number(step)));
            if (asked.answer) asked.answer->is_owner = is_owner;
          }
        }
        return ResultCode::kSuccess;
      });
}

}  // namespace dlcp::nccl::profiler
