// NCCL's collective network interface, version 8 (NCCL 2.20 to 2.23).
#include "nccl/abi/collnet_v8.h"

#include "nccl/collnet.h"

namespace dlcp::nccl {
namespace {

ResultCode init(DebugLogger logger) noexcept {
  return collnet::init_process(logger);
}

ResultCode listen(int device, void* handle, void** listen_comm) noexcept {
  return collnet::listen(nullptr, device, handle, listen_comm);
}

ResultCode all_reduce(void* comm, void* input, void* result, int count, int type, int op,
                      void* input_registration, void* result_registration,
                      void** request) noexcept {
  return collnet::all_reduce(comm, input, result, static_cast<std::size_t>(count), type, op,
                             input_registration, result_registration, request);
}

}  // namespace
}  // namespace dlcp::nccl

// Without braces after extern "C": inside them a const table has internal linkage.
extern "C" __attribute__((visibility("default")))
const dlcp::nccl::CollNetV8 ncclCollNetPlugin_v8 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV8>,
    .listen = dlcp::nccl::listen,
    .connect = dlcp::nccl::collnet::connect,
    .reduceSupport = dlcp::nccl::collnet::reduce_support,
    .regMr = dlcp::nccl::collnet::register_memory,
    .regMrDmaBuf = nullptr,
    .deregMr = dlcp::nccl::collnet::deregister_memory,
    .iallreduce = dlcp::nccl::all_reduce,
    .iallgather = nullptr,
    .ireducescatter = nullptr,
    .iflush = dlcp::nccl::collnet::flush,
    .test = dlcp::nccl::collnet::test,
    .closeColl = dlcp::nccl::collnet::close_group,
    .closeListen = dlcp::nccl::collnet::close_listen,
};
