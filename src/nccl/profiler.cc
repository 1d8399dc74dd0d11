#include "nccl/profiler.h"

#include <unistd.h>

#include <array>
#include <memory>

#include "engine/clock.h"
#include "nccl/communicators.h"

namespace dlcp::nccl::profiler {
namespace {

static_assert(sizeof(void*) == sizeof(EventTable::EventHandle));

constexpr std::size_t kCommunicatorsMax = 4096;  // profiled at one time, in one process
// Who asks, in NCCL's event: type and version as other plugins write them. Types 1 and 2 are
// NCCL's.
constexpr std::int64_t kQuestionId = std::int64_t{0x444c} << 16 | 1;

constinit std::atomic<ProfilerCallback> net_callback{nullptr};
constinit std::mutex mutex;  // of what follows
constinit int* activation_mask = nullptr;
constinit std::atomic<std::size_t> wanted_by{0};
constinit std::atomic<std::size_t> in_use_by{0};
constinit std::array<std::atomic<EventTable*>, kCommunicatorsMax> tables{};

// NCCL reads it without a lock, at each call of its API.
void set_mask() {
  if (activation_mask != nullptr) {
    const bool wanted = wanted_by.load(std::memory_order_relaxed) > 0;
    __atomic_store_n(activation_mask, wanted ? static_cast<int>(kProfileNetPlugin) : 0,
                     __ATOMIC_RELAXED);
  }
}

struct Question {
  int traffic_class = kUndefined;  // what the asking connection knows
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

void activate() {
  const std::lock_guard lock(mutex);
  wanted_by.fetch_add(1, std::memory_order_relaxed);
  set_mask();
}

void deactivate() {
  const std::lock_guard lock(mutex);
  wanted_by.fetch_sub(1, std::memory_order_relaxed);
  set_mask();
}

bool in_use() {
  return in_use_by.load(std::memory_order_relaxed) > 0;
}

bool activated() {
  return wanted_by.load(std::memory_order_relaxed) > 0;
}

std::optional<OpContext> ask(void* phandle, int traffic_class) {
  const ProfilerCallback callback = net_callback.load(std::memory_order_acquire);
  if (callback == nullptr || phandle == nullptr || !in_use()) {
    return std::nullopt;
  }
  Question question{traffic_class, std::nullopt};
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
        ++in_use_by;
        break;
      }
    }
    return ResultCode::kSuccess;
  });
}

ResultCode finalize(void* context) noexcept {
  return guarded("profiler finalize", [&] {
    const std::lock_guard lock(mutex);
    if (EventTable* table = table_of(context)) {
      // NCCL has joined the threads that could still have used it.
      tables[as_number(context) - 1].store(nullptr, std::memory_order_release);
      delete table;
      --in_use_by;
    }
    if (in_use_by == 0) {
      activation_mask = nullptr;  // NCCL may be unloaded
    }
    return ResultCode::kSuccess;
  });
}

void* start_collective(void* context, const Collective& collective) noexcept {
  void* handle = nullptr;
  guarded("profiler event", [&] {
    if (EventTable* table = table_of(context)) {
      handle = as_pointer(table->start_collective(engine::steady_now(), collective));
    }
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
    // Another process's operation carries that process's context and handles.
    if (operation.pid == getpid() && operation.nSteps > 0 && operation.chunkSize > 0) {
      if (EventTable* table = table_of(context)) {
        handle = as_pointer(table->start_operation(
            as_number(collective), static_cast<std::uint32_t>(operation.nSteps),
            static_cast<std::size_t>(operation.chunkSize), operation.isSend != 0));
      }
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
  guarded("profiler event", [&] {
    if (question.id == kQuestionId && question.data != nullptr && step != nullptr) {
      if (EventTable* table = table_of(context)) {
        auto& asked = *static_cast<Question*>(question.data);
        if (asked.traffic_class != kUndefined) {
          table->set_traffic_class(asked.traffic_class);
        }
        asked.answer = table->find(as_number(step));
      }
    }
    return ResultCode::kSuccess;
  });
}

}  // namespace dlcp::nccl::profiler
