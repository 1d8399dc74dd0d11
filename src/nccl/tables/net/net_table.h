// The exported table of each version of NCCL's net interface: adapters from the version's
// signatures to nccl/net, and a function that fills a table with those that fit its fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/net/net_v11.h"
#include "nccl/net/net.h"

namespace dlcp::nccl {
namespace net_adapters {

// One overload each: until version 9, in version 10, and since version 11.
inline ResultCode init(DebugLogger logger) noexcept {
  return net::init_process(logger);
}
inline ResultCode init(DebugLogger logger, ProfilerCallback callback) noexcept {
  return net::init_process(logger, callback);
}
inline ResultCode init(void** context, std::uint64_t comm_id, NetCommConfigV11* config,
                       DebugLogger logger, ProfilerCallback callback) noexcept {
  const int communicator_class = config != nullptr ? config->trafficClass : kUndefined;
  return net::init_communicator(context, comm_id, communicator_class, logger, callback);
}

// Until version 10, and since version 11.
inline ResultCode listen(int device, void* handle, void** listen_comm) noexcept {
  return net::listen(nullptr, device, handle, listen_comm);
}
inline ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept {
  return net::listen(context, device, handle, listen_comm);
}

// Version 6, versions 8 and 9, version 10, and since version 11.
inline ResultCode connect(int device, void* handle, void** send_comm) noexcept {
  return net::connect(nullptr, device, handle, send_comm);
}
inline ResultCode connect(int device, void* handle, void** send_comm, NetDeviceHandle**) noexcept {
  return net::connect(nullptr, device, handle, send_comm);
}
inline ResultCode connect(int device, NetCommConfigV10* config, void* handle, void** send_comm,
                          NetDeviceHandle**) noexcept {
  return net::connect(nullptr, device, handle, send_comm,
                      config != nullptr ? config->trafficClass : kUndefined);
}
inline ResultCode connect(void* context, int device, void* handle, void** send_comm,
                          NetDeviceHandle**) noexcept {
  return net::connect(context, device, handle, send_comm);
}

// Version 6, and since version 8.
inline ResultCode accept(void* listen_comm, void** recv_comm) noexcept {
  return net::accept(listen_comm, recv_comm);
}
inline ResultCode accept(void* listen_comm, void** recv_comm, NetDeviceHandle**) noexcept {
  return net::accept(listen_comm, recv_comm);
}
template <class Size>
ResultCode register_memory(void* comm, void* data, Size bytes, int type,
                           void** registration) noexcept {
  return net::register_memory(comm, data, static_cast<std::size_t>(bytes), type, registration);
}

// Until version 8, version 9, and since version 10.
template <class Size>
ResultCode send(void* comm, void* data, Size bytes, int, void* registration,
                void** request) noexcept {
  return net::send(comm, data, static_cast<std::size_t>(bytes), registration, nullptr, request);
}
inline ResultCode send(void* comm, void* data, std::size_t bytes, int, void* registration,
                       void* phandle, void** request) noexcept {
  return net::send(comm, data, bytes, registration, phandle, request);
}
template <class Size>
ResultCode receive(void* comm, int count, void** data, Size* bytes, int*, void** registrations,
                   void** request) noexcept {
  const auto first = static_cast<std::size_t>(count > 0 ? bytes[0] : 0);
  return net::receive(comm, count, data, &first, registrations, nullptr, request);
}
inline ResultCode receive(void* comm, int count, void** data, std::size_t* bytes, int*,
                          void** registrations, void** phandles, void** request) noexcept {
  return net::receive(comm, count, data, bytes, registrations, phandles, request);
}

}  // namespace net_adapters

// Functions of offload and of virtual devices stay null, so NCCL uses neither.
template <class Table, class Properties>
constexpr Table net_table() {
  Table table{};
  table.name = kPluginName;
  table.init = net_adapters::init;
  table.devices = net::devices;
  table.getProperties = net::get_properties<Properties>;
  table.listen = net_adapters::listen;
  table.connect = net_adapters::connect;
  table.accept = net_adapters::accept;
  table.regMr = net_adapters::register_memory;
  table.regMrDmaBuf = net::register_dma_buf;
  table.deregMr = net::deregister_memory;
  table.isend = net_adapters::send;
  table.irecv = net_adapters::receive;
  table.iflush = net::flush;
  table.test = net::test;
  table.closeSend = net::close_comm;
  table.closeRecv = net::close_comm;
  table.closeListen = net::close_listen;
  if constexpr (requires { table.finalize; }) {
    table.finalize = net::finalize_communicator;
    table.setNetAttr = net::set_attributes;
  }
  return table;
}

}  // namespace dlcp::nccl
