// NCCL's profiler interface, version 4 (NCCL 2.27).
#include "nccl/abi/profiler/profiler_v4.h"

#include "nccl/tables/profiler/profiler_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::ProfilerV4 ncclProfiler_v4 =
        dlcp::nccl::profiler_table<dlcp::nccl::ProfilerV4, dlcp::nccl::ProfilerEventV4>();
