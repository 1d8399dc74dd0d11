// Our side of NCCL's profiler interface. Not to profile: it is how NCCL tells what a transfer
// belongs to. The net plugin asks through the callback that NCCL gave it, with the operation's
// `phandle`; NCCL then starts a network event with us, on the same thread, under the event of the
// step.
//
// NCCL's activation mask is one number of the process. It stays 0, and NCCL calls none of this,
// while nobody has a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "nccl/abi/profiler.h"
#include "nccl/event_table.h"
#include "nccl/guard.h"

namespace dlcp::nccl::profiler {

// --- for the net plugin ---
void set_callback(ProfilerCallback callback);  // may be null
// Why events are wanted: a communicator may lose something, or all-reduces by direct exchange.
enum class Reason : std::uint8_t { kLoss, kDirect };
// Events come as long as somebody wants them.
void activate(Reason reason);
void deactivate(Reason reason);
// True once NCCL has taken us as its profiler, for at least one communicator.
bool in_use();
// Nothing if NCCL does not say. `phandle` as given to isend or irecv; may be null.
// `communicator_class` is what the connection knows of the communicator, if anything: it is
// remembered for those that were not told (interface v10 tells one side only).
std::optional<OpContext> ask(void* phandle, int communicator_class);
bool activated();  // for loss
// What of the next call of direct exchange of that communicator is data; nullopt: nobody tells
// (and none is asked where several of its ranks are in this process). `contradicted`: what is
// told does not fit the calls.
std::optional<CallPart> next_call(std::uint64_t comm_id, std::size_t bytes, int type,
                                  bool& contradicted);

// --- for the tables of each version ---
ResultCode init(void** context, int* mask, std::uint64_t comm_id, int ranks, int rank,
                DebugLogger logger) noexcept;
ResultCode finalize(void* context) noexcept;

// Handles as NCCL carries them for us: numbers, never pointers.
void* start_collective(void* context, const Collective& collective) noexcept;
void* start_point_to_point() noexcept;
void* start_operation(void* context, void* collective, const ProfiledProxyOp& operation) noexcept;
void* start_step(void* operation, int step) noexcept;
void answer(void* context, void* step, const ProfiledNetPlugin& question) noexcept;

template <class Coll>
Collective collective_of(const Coll& from) {
  return {function_named(from.func),
          algorithm_named(from.algo),
          protocol_named(from.proto),
          type_named(from.datatype),
          from.count,
          from.nChannels,
          nccl_type_named(from.datatype)};
}

template <class Event>
ResultCode start_event(void* context, void** handle, Event* event) noexcept {
  *handle = nullptr;
  switch (event->type) {
    case kProfileColl:
      *handle = start_collective(context, collective_of(event->coll));
      break;
    case kProfileP2p:
      *handle = start_point_to_point();
      break;
    case kProfileProxyOp:
      *handle = start_operation(context, event->parentObj, event->proxyOp);
      break;
    case kProfileProxyStep:
      *handle = start_step(event->parentObj, event->proxyStep.step);
      break;
    case kProfileNetPlugin:
      answer(context, event->parentObj, event->netPlugin);
      break;
    default:
      break;
  }
  return ResultCode::kSuccess;
}

inline ResultCode stop_event(void*) noexcept {
  return ResultCode::kSuccess;  // what is started forgets itself
}
inline ResultCode record_event_state(void*, int, void*) noexcept {
  return ResultCode::kSuccess;
}

}  // namespace dlcp::nccl::profiler
