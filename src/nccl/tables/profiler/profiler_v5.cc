// NCCL's profiler interface, version 5 (NCCL 2.28).
#include "nccl/abi/profiler/profiler_v5.h"

#include "nccl/tables/profiler/profiler_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::ProfilerV5 ncclProfiler_v5 =
        dlcp::nccl::profiler_table<dlcp::nccl::ProfilerV5, dlcp::nccl::ProfilerEventV5>();
