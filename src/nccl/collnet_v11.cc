// NCCL's collective network interface, version 11 (NCCL 2.28, 2.29).
#include "nccl/abi/collnet_v11.h"

#include "nccl/collnet.h"

// Without braces after extern "C": inside them a const table has internal linkage.
extern "C" __attribute__((visibility("default")))
const dlcp::nccl::CollNetV11 ncclCollNetPlugin_v11 = {
    .name = dlcp::nccl::kPluginName,
    .init = dlcp::nccl::collnet::init_communicator,
    .devices = dlcp::nccl::net::devices,
    .getProperties = dlcp::nccl::net::get_properties<dlcp::nccl::NetPropertiesV11>,
    .listen = dlcp::nccl::collnet::listen,
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
    .finalize = dlcp::nccl::collnet::finalize_communicator,
};
