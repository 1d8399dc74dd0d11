// NCCL's net interface, version 9 (NCCL 2.24): sizes of any length, and virtual devices. NCCL
// passes *request == (void*)0x1 to irecv of this version (kOptionalRecvCompletion).
#pragma once

#include "nccl/abi/types.h"

namespace dlcp::nccl {

struct NetVDevicePropertiesV9 {
  int ndevs;
  int devs[4];
};

struct NetPropertiesV9 {
  char* name;
  char* pciPath;
  std::uint64_t guid;
  int ptrSupport;
  int regIsGlobal;  // a registration is valid for every communicator
  int forceFlush;   // flush receives even if the GPU does not need it
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;  // kNetDeviceHost
  int netDeviceVersion;
  NetVDevicePropertiesV9 vProps;
  std::size_t maxP2pBytes;  // largest send or receive, at most kMaxNetBytes
  std::size_t maxCollBytes;
};

struct NetV9 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV9* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(int dev, void* handle, void** sendComm, NetDeviceHandle** sendDevComm);
  ResultCode (*accept)(void* listenComm, void** recvComm, NetDeviceHandle** recvDevComm);
  ResultCode (*regMr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  ResultCode (*regMrDmaBuf)(void* comm, void* data, std::size_t size, int type,
                            std::uint64_t offset, int fd, void** mhandle);
  ResultCode (*deregMr)(void* comm, void* mhandle);
  ResultCode (*isend)(void* sendComm, void* data, std::size_t size, int tag, void* mhandle,
                      void** request);
  ResultCode (*irecv)(void* recvComm, int n, void** data, std::size_t* sizes, int* tags,
                      void** mhandles, void** request);
  ResultCode (*iflush)(void* recvComm, int n, void** data, int* sizes, void** mhandles,
                       void** request);
  ResultCode (*test)(void* request, int* done, int* sizes);
  ResultCode (*closeSend)(void* sendComm);
  ResultCode (*closeRecv)(void* recvComm);
  ResultCode (*closeListen)(void* listenComm);
  ResultCode (*getDeviceMr)(void* comm, void* mhandle, void** dptr_mhandle);
  ResultCode (*irecvConsumed)(void* recvComm, int n, void* request);
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV9* props);
};

inline constexpr const char* kNetSymbolV9 = "ncclNetPlugin_v9";

}  // namespace dlcp::nccl
