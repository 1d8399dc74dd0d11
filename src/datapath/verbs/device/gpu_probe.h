// Finds out at start which kinds of GPU memory an RDMA device can access.
#pragma once

#include <string>

#include "datapath/gpu_memory.h"
#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/device/verbs.h"

namespace dlcp::datapath {

// dma-buf: the driver's answer to a registration without a descriptor. Peer memory: whether the
// kernel's module is loaded. A software device has neither, because the processor copies its data.
GpuAccess probe_gpu_access(Verbs& verbs, ibv_pd* pd, const RocePort& port,
                           const std::string& sys_root = "/sys");

}  // namespace dlcp::datapath
