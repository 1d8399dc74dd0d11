// NCCL's collective network interface, version 9 (NCCL 2.24, 2.25).
#include "nccl/abi/collnet_v9.h"

#include "nccl/collnet.h"

namespace dlcp::nccl {
namespace {

ResultCode init(DebugLogger logger) noexcept {
  return collnet::init_process(logger);
}

ResultCode listen(int device, void* handle, void** listen_comm) noexcept {
  return collnet::listen(nullptr, device, handle, listen_comm);
}

}  // namespace
}  // namespace dlcp::nccl

// Without braces after extern "C": inside them a const table has internal linkage.
extern "C" __attribute__((visibility("default")))
const dlcp::nccl::CollNetV9 ncclCollNetPlugin_v9 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::init,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV9>,
    .listen = dlcp::nccl::listen,
    .connect = dlcp::nccl::collnet::connect,
    .reduceSupport = dlcp::nccl::collnet::reduce_support,
    .regMr = dlcp::nccl::collnet::register_memory,
    .regMrDmaBuf = nullptr,
    .deregMr = dlcp::nccl::collnet::deregister_memory,
    .iallreduce = dlcp::nccl::collnet::all_reduce,
    .iallgather = nullptr,
    .ireducescatter = nullptr,
    .iflush = dlcp::nccl::collnet::flush,
    .test = dlcp::nccl::collnet::test,
    .closeColl = dlcp::nccl::collnet::close_group,
    .closeListen = dlcp::nccl::collnet::close_listen,
    .makeVDevice = nullptr,
};
