#include "nccl/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "engine/clock.h"
#include "nccl/communicators.h"

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
    __atomic_store_n(activation_mask, static_cast<int>(mask), __ATOMIC_RELAXED);
  }
}

struct Question {
  int communicator_class = kUndefined;  // the class that the asking connection knows
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

}  // namespace

void set_callback(ProfilerCallback callback) {
  net_callback.store(callback, std::memory_order_release);
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
                                  bool& contradicted) {
  contradicted = false;
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
  return found == nullptr ? std::nullopt : found->next_call(bytes, type, contradicted);
}

std::optional<OpContext> ask(void* phandle, int communicator_class) {
  const ProfilerCallback callback = net_callback.load(std::memory_order_acquire);
  if (callback == nullptr || phandle == nullptr || !in_use()) return std::nullopt;
  Question question{communicator_class, std::nullopt};
  void* event = nullptr;
  callback(&event, kProfilerNetEventStart, phandle, kQuestionId, &question);
  return question.answer;
}

ResultCode init(void** context, int* mask, std::uint64_t comm_id, int ranks, int rank,
                DebugLogger logger) noexcept {
  *context = nullptr;
  return guarded("profiler init", [&] {
    set_logger(logger);
    Communicators::of_process().learn_rank(comm_id, rank, ranks);
    const std::lock_guard lock(mutex);
    activation_mask = mask;
    set_mask();
    for (std::size_t i = 0; i < tables.size() && ranks > 0; ++i) {
      if (tables[i].load(std::memory_order_relaxed) == nullptr) {
        tables[i].store(new EventTable(comm_id, static_cast<std::uint32_t>(ranks)),
                        std::memory_order_release);
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
        const std::lock_guard lock(mutex);
        if (EventTable* table = table_of(context)) {
          // NCCL has joined all threads that could still have used it.
          tables[as_number(context) - 1].store(nullptr, std::memory_order_release);
          delete table;
          --in_use_by;
        }
        if (in_use_by == 0) activation_mask = nullptr;  // NCCL may be unloaded
        return ResultCode::kSuccess;
      });
}

void* start_collective(void* context, const Collective& collective) noexcept {
  void* handle = nullptr;
  guarded("profiler event", [&] {
    if (EventTable* table = table_of(context))
      handle = as_pointer(table->start_collective(engine::steady_now(), collective));
    return ResultCode::kSuccess;
  });
  return handle;
}

void* start_point_to_point() noexcept {
  return as_pointer(EventTable::point_to_point());
}

void* start_operation(void* context, void* collective, const ProfiledProxyOp& operation) noexcept {
  void* handle = nullptr;
  guarded("profiler event", [&] {
    // An operation of another process carries that process's context and handles.
    if (operation.pid == getpid() && operation.nSteps > 0 && operation.chunkSize > 0) {
      if (EventTable* table = table_of(context))
        handle = as_pointer(table->start_operation(
            as_number(collective), static_cast<std::uint32_t>(operation.nSteps),
            static_cast<std::size_t>(operation.chunkSize), operation.isSend != 0));
    }
    return ResultCode::kSuccess;
  });
  return handle;
}

void* start_step(void* operation, int step) noexcept {
  return step < 0 ? nullptr
                  : as_pointer(EventTable::step_of(as_number(operation),
                                                   static_cast<std::uint32_t>(step)));
}

void answer(void* context, void* step, const ProfiledNetPlugin& question) noexcept {
  guarded(
      "profiler event",
      [&] {
        if (question.id == kQuestionId && question.data != nullptr && step != nullptr) {
          if (EventTable* table = table_of(context)) {
            auto& asked = *static_cast<Question*>(question.data);
            if (asked.communicator_class != kUndefined)
              table->set_communicator_class(asked.communicator_class);
            asked.answer = table->find(as_number(step));
          }
        }
        return ResultCode::kSuccess;
      });
}

}  // namespace dlcp::nccl::profiler
