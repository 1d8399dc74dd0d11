// DLCP's implementation of NCCL's profiler interface. It identifies transfers, and with
// DLCP_PROFILE_FILE it records collectives (profile/).
// To identify a transfer, the net plugin asks through NCCL's callback with the operation's
// `phandle`. NCCL then starts a network event with this profiler, on the same thread, below the
// event of the step.
//
// NCCL's activation mask is one number per process. While no communicator has a budget and nothing
// is recorded, it is 0 and NCCL makes none of these calls.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "nccl/abi/profiler/profiler.h"
#include "nccl/context/guard.h"
#include "nccl/profile/call.h"
#include "nccl/profiler/event_table.h"

namespace dlcp::nccl::profiler {

// --- for the net plugin ---
void set_callback(ProfilerCallback callback);  // null before version 10 of the net interface
bool has_callback();
// Why events are needed: a communicator may lose data, or uses direct exchange for all-reduces.
enum class Reason : std::uint8_t { kLoss, kDirect };
// Events are delivered while at least one reason is active.
void activate(Reason reason);
void deactivate(Reason reason);
// True once NCCL uses this profiler for at least one communicator.
bool in_use();
// The communicator that a connection was made for, as far as it is known.
struct Owner {
  std::uint64_t comm_id = 0;  // 0: unknown
  // EventTable::next_number() when the connection was made. Later communicators do not own it.
  std::uint64_t made_before = 0;
  int communicator_class = kUndefined;
};
// nullopt if NCCL does not identify the transfer. `phandle` is the argument of isend or irecv and
// may be null. The owner's class is remembered for other connections of its communicator that were
// not given it (interface version 10 gives it to one side only).
std::optional<OpContext> ask(void* phandle, const Owner& owner);
bool activated();  // for loss
// Payload size of the communicator's next call of direct exchange; nullopt if NCCL has not reported
// it. (It is not requested if several ranks of the communicator are in this process, nor after
// another communicator has begun to use the connections of this one.)
// `why_not` is set if no call of the communicator is considered known any more.
std::optional<CallPart> next_call(std::uint64_t comm_id, std::size_t bytes, int type,
                                  Unmatched& why_not);

// --- for the tables of each version ---
ResultCode init(void** context, int* mask, std::uint64_t comm_id, int ranks, int rank,
                DebugLogger logger) noexcept;
ResultCode finalize(void* context) noexcept;

// Handles that NCCL stores are numbers, never pointers: the profile's if there is one, which stores
// those of the table of events; otherwise the table's.
void* start_collective(void* context, const Collective& collective,
                       const ProfiledCall& call) noexcept;
void* start_point_to_point(void* context, const ProfiledCall& call) noexcept;
void* start_kernel(void* collective, std::uint8_t channel) noexcept;
void* start_operation(void* context, void* collective, const ProfiledProxyOp& operation) noexcept;
void* start_step(void* operation, int step) noexcept;
void answer(void* context, void* step, const ProfiledNetPlugin& question) noexcept;
ResultCode stop_event(void* event) noexcept;  // entries of the table expire without being stopped
ResultCode record_event_state(void* event, int state, void* arguments) noexcept;

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
      *handle = start_collective(context, collective_of(event->coll), collective_call(event->coll));
      break;
    case kProfileP2p:
      *handle = start_point_to_point(context, point_to_point_call(event->p2p));
      break;
    case kProfileProxyOp:
      *handle = start_operation(context, event->parentObj, event->proxyOp);
      break;
    case kProfileProxyStep:
      *handle = start_step(event->parentObj, event->proxyStep.step);
      break;
    case kProfileKernelCh:
      *handle = start_kernel(event->parentObj, event->kernelCh.channelId);
      break;
    case kProfileNetPlugin:
      answer(context, event->parentObj, event->netPlugin);
      break;
    default:
      break;
  }
  return ResultCode::kSuccess;
}

}  // namespace dlcp::nccl::profiler
