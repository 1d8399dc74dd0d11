// NCCL's net interface, version 6 (NCCL 2.13 to 2.19): int sizes, no context.
#include "nccl/abi/net/net_v6.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV6 ncclNetPlugin_v6 =
        dlcp::nccl::net_table<dlcp::nccl::NetV6, dlcp::nccl::NetPropertiesV6>();
