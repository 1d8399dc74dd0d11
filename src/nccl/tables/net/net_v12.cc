// NCCL's net interface, version 12 (NCCL 2.30): version 11 with longer properties.
#include "nccl/abi/net/net_v12.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV12 ncclNetPlugin_v12 =
        dlcp::nccl::net_table<dlcp::nccl::NetV12, dlcp::nccl::NetPropertiesV12>();
