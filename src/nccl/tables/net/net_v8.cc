// NCCL's net interface, version 8 (NCCL 2.20 to 2.23): version 6 with handles for offload, which a
// host plugin does not use.
#include "nccl/abi/net/net_v8.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV8 ncclNetPlugin_v8 =
        dlcp::nccl::net_table<dlcp::nccl::NetV8, dlcp::nccl::NetPropertiesV8>();
