// NCCL's collective network interface, versions 8 to 12.
#include "nccl/abi/collnet.h"
#include "nccl/collnet/collnet.h"

namespace dlcp::nccl {
namespace {

ResultCode listen_in_process(int device, void* handle, void** listen_comm) noexcept {
  return collnet::listen(nullptr, device, handle, listen_comm);
}

ResultCode all_reduce_v8(void* comm, void* input, void* result, int count, int type, int op,
                         void* input_registration, void* result_registration,
                         void** request) noexcept {
  return collnet::all_reduce(comm, input, result, static_cast<std::size_t>(count), type, op,
                             input_registration, result_registration, request);
}

// Those of the net plugin, but groups add in host memory.
template <class Properties>
ResultCode collnet_properties(int device, Properties* out) noexcept {
  const ResultCode code = net::get_properties(device, out);
  if (code == ResultCode::kSuccess) out->ptrSupport = kPtrHost;
  return code;
}

// The calls that the versions have in common, with the properties of each version.
template <class Table, class Properties>
constexpr Table common() {
  Table table{};
  table.name = kPluginName;
  table.devices = net::devices;
  table.getProperties = collnet_properties<Properties>;
  table.connect = collnet::connect;
  table.reduceSupport = collnet::reduce_support;
  table.regMr = collnet::register_memory;
  table.deregMr = collnet::deregister_memory;
  table.iflush = collnet::flush;
  table.test = collnet::test;
  table.closeColl = collnet::close_group;
  table.closeListen = collnet::close_listen;
  return table;
}

constexpr CollNetV8 table_v8() {
  auto table = common<CollNetV8, NetPropertiesV8>();
  table.init = collnet::init_process;
  table.listen = listen_in_process;
  table.iallreduce = all_reduce_v8;
  return table;
}

constexpr CollNetV9 table_v9() {
  auto table = common<CollNetV9, NetPropertiesV9>();
  table.init = collnet::init_process;
  table.listen = listen_in_process;
  table.iallreduce = collnet::all_reduce;
  return table;
}

template <class Table, class Properties>
constexpr Table table_with_contexts() {
  auto table = common<Table, Properties>();
  table.init = collnet::init_communicator;
  table.listen = collnet::listen;
  table.iallreduce = collnet::all_reduce;
  table.finalize = collnet::finalize_communicator;
  return table;
}

}  // namespace
}  // namespace dlcp::nccl

// extern "C" without braces: inside braces, a const table has internal linkage. The tables are
// initialised at compile time, because NCCL may read them before any code of the plugin has run.
extern "C" __attribute__((
    visibility("default"))) constinit const dlcp::nccl::CollNetV8 ncclCollNetPlugin_v8 =
    dlcp::nccl::table_v8();
extern "C" __attribute__((
    visibility("default"))) constinit const dlcp::nccl::CollNetV9 ncclCollNetPlugin_v9 =
    dlcp::nccl::table_v9();
extern "C" __attribute__((
    visibility("default"))) constinit const dlcp::nccl::CollNetV10 ncclCollNetPlugin_v10 =
    dlcp::nccl::table_v9();
extern "C" __attribute__((
    visibility("default"))) constinit const dlcp::nccl::CollNetV11 ncclCollNetPlugin_v11 =
    dlcp::nccl::table_with_contexts<dlcp::nccl::CollNetV11, dlcp::nccl::NetPropertiesV11>();
extern "C" __attribute__((
    visibility("default"))) constinit const dlcp::nccl::CollNetV12 ncclCollNetPlugin_v12 =
    dlcp::nccl::table_with_contexts<dlcp::nccl::CollNetV12, dlcp::nccl::NetPropertiesV12>();
