// The exported table of each version of NCCL's profiler interface.
#pragma once

#include "nccl/net/properties.h"
#include "nccl/profiler/profiler.h"

namespace dlcp::nccl {
namespace profiler_adapters {

// Version 4, and since version 5.
inline ResultCode init(void** context, int* mask, const char*, std::uint64_t comm_id, int,
                       int ranks, int rank, DebugLogger logger) noexcept {
  return profiler::init(context, mask, comm_id, ranks, rank, logger);
}
inline ResultCode init(void** context, std::uint64_t comm_id, int* mask, const char*, int,
                       int ranks, int rank, DebugLogger logger) noexcept {
  return profiler::init(context, mask, comm_id, ranks, rank, logger);
}

}  // namespace profiler_adapters

template <class Table, class Event>
constexpr Table profiler_table() {
  return {kPluginName,          profiler_adapters::init,      profiler::start_event<Event>,
          profiler::stop_event, profiler::record_event_state, profiler::finalize};
}

}  // namespace dlcp::nccl
