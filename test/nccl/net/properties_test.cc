// The properties of a device, in the form that NCCL reads.
#include "nccl/net/properties.h"

#include "catch.h"
#include "nccl/abi/net/net_v12.h"
#include "nccl/abi/net/net_v6.h"

using namespace dlcp;
using namespace dlcp::nccl;

TEST_CASE("GPU memory is announced only for devices that can access it") {
  datapath::Interface device;
  device.name = "mlx5_0";
  const auto pointers = [&](const datapath::GpuAccess& gpu) {
    NetPropertiesV6 oldest;
    NetPropertiesV12 newest;
    fill(oldest, describe(device, {}, gpu), 0);
    fill(newest, describe(device, {}, gpu), 0);
    CHECK(oldest.ptrSupport == newest.ptrSupport);
    CHECK(newest.regIsGlobal == 0);
    return newest.ptrSupport;
  };
  CHECK(pointers({}) == kPtrHost);
  CHECK(pointers({.dma_buf = false, .peer_memory = true}) == (kPtrHost | kPtrCuda));
  // An NCCL without dma-buf then uses host memory.
  CHECK(pointers({.dma_buf = true, .peer_memory = false}) == (kPtrHost | kPtrDmaBuf));
  CHECK(pointers({.dma_buf = true, .peer_memory = true}) == (kPtrHost | kPtrCuda | kPtrDmaBuf));
}
