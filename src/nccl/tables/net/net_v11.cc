// NCCL's net interface, version 11 (NCCL 2.28, 2.29): a context per communicator.
#include "nccl/abi/net/net_v11.h"

#include "nccl/net/net.h"

namespace dlcp::nccl {
namespace {

ResultCode init(void** context, std::uint64_t comm_id, NetCommConfigV11* config, DebugLogger logger,
                ProfilerCallback callback) noexcept {
  const int communicator_class = config != nullptr ? config->trafficClass : kUndefined;
  return net::init_communicator(context, comm_id, communicator_class, logger, callback);
}

ResultCode connect(void* context, int device, void* handle, void** send_comm,
                   NetDeviceHandle**) noexcept {
  return net::connect(context, device, handle, send_comm);
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
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::NetV11 ncclNetPlugin_v11 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV11>,
    .listen = dlcp::nccl::net::listen,
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
    .finalize = dlcp::nccl::net::finalize_communicator,
    .setNetAttr = dlcp::nccl::net::set_attributes,
};
