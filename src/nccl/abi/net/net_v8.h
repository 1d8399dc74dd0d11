// NCCL's net interface, version 8 (NCCL 2.20): adds regIsGlobal in the middle of the properties,
// and registrations of more than 2 GiB.
#pragma once

#include "nccl/abi/types.h"

namespace dlcp::nccl {

struct NetPropertiesV8 {
  char* name;
  char* pciPath;
  std::uint64_t guid;
  int ptrSupport;
  int regIsGlobal;  // a registration is valid for every communicator
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;  // kNetDeviceHost
  int netDeviceVersion;
};

struct NetV8 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV8* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(int dev, void* handle, void** sendComm, NetDeviceHandle** sendDevComm);
  ResultCode (*accept)(void* listenComm, void** recvComm, NetDeviceHandle** recvDevComm);
  ResultCode (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
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

inline constexpr const char* kNetSymbolV8 = "ncclNetPlugin_v8";

}  // namespace dlcp::nccl
