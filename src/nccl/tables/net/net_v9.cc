// NCCL's net interface, version 9 (NCCL 2.24, 2.25): sizes of any length, and virtual devices.
#include "nccl/abi/net/net_v9.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV9 ncclNetPlugin_v9 =
        dlcp::nccl::net_table<dlcp::nccl::NetV9, dlcp::nccl::NetPropertiesV9>();
