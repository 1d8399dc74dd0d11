// NCCL's profiler interface, version 4 (NCCL 2.27).
#include "nccl/abi/profiler/profiler_v4.h"

#include "nccl/net/properties.h"
#include "nccl/profiler/profiler.h"

namespace dlcp::nccl {
namespace {

ResultCode init(void** context, int* mask, const char*, std::uint64_t comm_id, int, int ranks,
                int rank, DebugLogger logger) noexcept {
  return profiler::init(context, mask, comm_id, ranks, rank, logger);
}

}  // namespace
}  // namespace dlcp::nccl

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::ProfilerV4 ncclProfiler_v4 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .startEvent = dlcp::nccl::profiler::start_event<dlcp::nccl::ProfilerEventV4>,
    .stopEvent = dlcp::nccl::profiler::stop_event,
    .recordEventState = dlcp::nccl::profiler::record_event_state,
    .finalize = dlcp::nccl::profiler::finalize,
};
