// NCCL's net interface, version 11 (NCCL 2.28, 2.29): a context per communicator.
#include "nccl/abi/net/net_v11.h"

#include "nccl/tables/net/net_table.h"

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C"
    __attribute__((visibility("default"))) constinit const dlcp::nccl::NetV11 ncclNetPlugin_v11 =
        dlcp::nccl::net_table<dlcp::nccl::NetV11, dlcp::nccl::NetPropertiesV11>();
