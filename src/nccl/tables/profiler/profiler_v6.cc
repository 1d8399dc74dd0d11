// NCCL's profiler interface, version 6 (NCCL 2.29 and later).
#include "nccl/abi/profiler/profiler_v6.h"

#include "nccl/tables/profiler/profiler_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::ProfilerV6 ncclProfiler_v6 =
        dlcp::nccl::profiler_table<dlcp::nccl::ProfilerV6, dlcp::nccl::ProfilerEventV6>();
