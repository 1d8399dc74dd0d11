// NCCL's net interface, version 10 (NCCL 2.26, 2.27): a traffic class at each connect, and handles
// with which the profiler identifies operations. setNetAttr is only in later versions.
#include "nccl/abi/net/net_v10.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV10 ncclNetPlugin_v10 =
        dlcp::nccl::net_table<dlcp::nccl::NetV10, dlcp::nccl::NetPropertiesV10>();
