// NCCL's net interface, version 10 (NCCL 2.26): version 9 plus the communicator's traffic class at
// connect, and profiler handles with each operation. The properties are unchanged.
#pragma once

#include "nccl/abi/net/net_v9.h"

namespace dlcp::nccl {

struct NetCommConfigV10 {
  int trafficClass;  // of the communicator; kUndefined if the user set none
};

using NetVDevicePropertiesV10 = NetVDevicePropertiesV9;
using NetPropertiesV10 = NetPropertiesV9;

struct NetV10 {
  const char* name;
  ResultCode (*init)(DebugLogger logger, ProfilerCallback profiler);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV10* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(int dev, NetCommConfigV10* config, void* handle, void** sendComm,
                        NetDeviceHandle** sendDevComm);
  ResultCode (*accept)(void* listenComm, void** recvComm, NetDeviceHandle** recvDevComm);
  ResultCode (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  ResultCode (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type,
                            std::uint64_t offset, int fd, void** mhandle);
  ResultCode (*deregMr)(void* comm, void* mhandle);
  ResultCode (*isend)(void* sendComm, void* data, std::size_t size, int tag, void* mhandle,
                      void* phandle, void** request);
  ResultCode (*irecv)(void* recvComm, int n, void** data, std::size_t* sizes, int* tags,
                      void** mhandles, void** phandles, void** request);
  ResultCode (*iflush)(void* recvComm, int n, void** data, int* sizes, void** mhandles,
                       void** request);
  ResultCode (*test)(void* request, int* done, int* sizes);
  ResultCode (*closeSend)(void* sendComm);
  ResultCode (*closeRecv)(void* recvComm);
  ResultCode (*closeListen)(void* listenComm);
  ResultCode (*getDeviceMr)(void* comm, void* mhandle, void** dptr_mhandle);
  ResultCode (*irecvConsumed)(void* recvComm, int n, void* request);
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV10* props);
};

inline constexpr const char* kNetSymbolV10 = "ncclNetPlugin_v10";

}  // namespace dlcp::nccl
