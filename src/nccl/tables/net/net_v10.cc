// NCCL's net interface, version 10 (NCCL 2.26, 2.27): a traffic class at each connect, and handles
// with which the profiler identifies operations. setNetAttr is only in later versions.
#include "nccl/abi/net/net_v10.h"

#include "nccl/net/net.h"

namespace dlcp::nccl {
namespace {

ResultCode init(DebugLogger logger, ProfilerCallback callback) noexcept {
  return net::init_process(logger, callback);
}

ResultCode listen(int device, void* handle, void** listen_comm) noexcept {
  return net::listen(nullptr, device, handle, listen_comm);
}

ResultCode connect(int device, NetCommConfigV10* config, void* handle, void** send_comm,
                   NetDeviceHandle**) noexcept {
  return net::connect(nullptr, device, handle, send_comm,
                      config != nullptr ? config->trafficClass : kUndefined);
}

ResultCode accept(void* listen_comm, void** recv_comm, NetDeviceHandle**) noexcept {
  return net::accept(listen_comm, recv_comm);
}

ResultCode send(void* comm, void* data, std::size_t bytes, int, void* registration, void* phandle,
                void** request) noexcept {
  return net::send(comm, data, bytes, registration, phandle, request);
}

ResultCode receive(void* comm, int count, void** data, std::size_t* bytes, int*,
                   void** registrations, void** phandles, void** request) noexcept {
  return net::receive(comm, count, data, bytes, registrations, phandles, request);
}

}  // namespace
}  // namespace dlcp::nccl

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::NetV10 ncclNetPlugin_v10 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV10>,
    .listen = dlcp::nccl::listen,
    .connect = dlcp::nccl::connect,
    .accept = dlcp::nccl::accept,
    .regMr = dlcp::nccl::net::register_memory,
    .regMrDmaBuf = dlcp::nccl::net::register_dma_buf,
    .deregMr = dlcp::nccl::net::deregister_memory,
    .isend = dlcp::nccl::send,
    .irecv = dlcp::nccl::receive,
    .iflush = dlcp::nccl::net::flush,
    .test = dlcp::nccl::net::test,
    .closeSend = dlcp::nccl::net::close_comm,
    .closeRecv = dlcp::nccl::net::close_comm,
    .closeListen = dlcp::nccl::net::close_listen,
    .getDeviceMr = nullptr,
    .irecvConsumed = nullptr,
    .makeVDevice = nullptr,
};
