// NCCL's net interface, version 6 (NCCL 2.13 to 2.19): int sizes, no context.
#include "nccl/abi/net/net_v6.h"

#include "nccl/net/net.h"

namespace dlcp::nccl {
namespace {

ResultCode init(DebugLogger logger) noexcept {
  return net::init_process(logger);
}

ResultCode listen(int device, void* handle, void** listen_comm) noexcept {
  return net::listen(nullptr, device, handle, listen_comm);
}

ResultCode connect(int device, void* handle, void** send_comm) noexcept {
  return net::connect(nullptr, device, handle, send_comm);
}

ResultCode register_memory(void* comm, void* data, int bytes, int type,
                           void** registration) noexcept {
  return net::register_memory(comm, data, static_cast<std::size_t>(bytes), type, registration);
}

ResultCode send(void* comm, void* data, int bytes, int, void* registration,
                void** request) noexcept {
  return net::send(comm, data, static_cast<std::size_t>(bytes), registration, nullptr, request);
}

ResultCode receive(void* comm, int count, void** data, int* bytes, int*, void** registrations,
                   void** request) noexcept {
  const auto first = static_cast<std::size_t>(count > 0 ? bytes[0] : 0);
  return net::receive(comm, count, data, &first, registrations, nullptr, request);
}

}  // namespace
}  // namespace dlcp::nccl

// extern "C" without braces: inside braces, a const table has internal linkage.
extern "C" __attribute__((visibility("default"))) const dlcp::nccl::NetV6 ncclNetPlugin_v6 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV6>,
    .listen = dlcp::nccl::listen,
    .connect = dlcp::nccl::connect,
    .accept = dlcp::nccl::net::accept,
    .regMr = dlcp::nccl::register_memory,
    .regMrDmaBuf = dlcp::nccl::net::register_dma_buf,
    .deregMr = dlcp::nccl::net::deregister_memory,
    .isend = dlcp::nccl::send,
    .irecv = dlcp::nccl::receive,
    .iflush = dlcp::nccl::net::flush,
    .test = dlcp::nccl::net::test,
    .closeSend = dlcp::nccl::net::close_comm,
    .closeRecv = dlcp::nccl::net::close_comm,
    .closeListen = dlcp::nccl::net::close_listen,
};
