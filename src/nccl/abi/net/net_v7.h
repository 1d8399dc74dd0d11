// NCCL's net interface, version 7 (NCCL 2.19): version 6 plus offload of the receive to the GPU.
// DLCP does not export it, because NCCL 2.19 also accepts version 6. `dlcp bench` can drive a
// plugin that offers no other version.
#pragma once

#include "nccl/abi/types.h"

namespace dlcp::nccl {

struct NetPropertiesV7 {
  char* name;
  char* pciPath;
  std::uint64_t guid;
  int ptrSupport;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;  // kNetDeviceHost
  int netDeviceVersion;
};

// `Size` is the type in which NCCL passes the size of a registration.
template <class Properties, class Size>
struct NetWithOffload {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, Properties* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(int dev, void* handle, void** sendComm, NetDeviceHandle** sendDevComm);
  ResultCode (*accept)(void* listenComm, void** recvComm, NetDeviceHandle** recvDevComm);
  ResultCode (*regMr)(void* comm, void* data, Size size, int type, void** mhandle);
  ResultCode (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type,
                            std::uint64_t offset, int fd, void** mhandle);
  ResultCode (*deregMr)(void* comm, void* mhandle);
  ResultCode (*isend)(void* sendComm, void* data, int size, int tag, void* mhandle, void** request);
  ResultCode (*irecv)(void* recvComm, int n, void** data, int* sizes, int* tags, void** mhandles,
                      void** request);
  ResultCode (*iflush)(void* recvComm, int n, void** data, int* sizes, void** mhandles,
                       void** request);
  ResultCode (*test)(void* request, int* done, int* sizes);
  ResultCode (*closeSend)(void* sendComm);
  ResultCode (*closeRecv)(void* recvComm);
  ResultCode (*closeListen)(void* listenComm);
  ResultCode (*getDeviceMr)(void* comm, void* mhandle, void** dptr_mhandle);
  ResultCode (*irecvConsumed)(void* recvComm, int n, void* request);
};
using NetV7 = NetWithOffload<NetPropertiesV7, int>;

inline constexpr const char* kNetSymbolV7 = "ncclNetPlugin_v7";

}  // namespace dlcp::nccl
