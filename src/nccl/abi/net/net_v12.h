// NCCL's net interface, version 12 (NCCL 2.30): version 11 with eight devices per virtual NIC
// instead of four, which moves the later fields of the properties, and with rail and plane numbers.
#pragma once

#include "nccl/abi/net/net_v11.h"

namespace dlcp::nccl {

struct NetVDevicePropertiesV12 {
  int ndevs;
  int devs[8];
};

using NetCommConfigV12 = NetCommConfigV11;
using NetAttrV12 = NetAttrV11;

struct NetPropertiesV12 {
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
  NetVDevicePropertiesV12 vProps;
  std::size_t maxP2pBytes;  // largest send or receive, at most kMaxNetBytes
  std::size_t maxCollBytes;
  int maxMultiRequestSize;  // requests in one multi-request
  std::int16_t railId;      // kUndefined if unknown
  std::int16_t planeId;     // kUndefined if unknown
};

struct NetV12 {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, NetCommConfigV12* config, DebugLogger logger,
                     ProfilerCallback profiler);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV12* props);
  ResultCode (*listen)(void* ctx, int dev, void* handle, void** listenComm);
  ResultCode (*connect)(void* ctx, int dev, void* handle, void** sendComm,
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
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV12* props);
  ResultCode (*finalize)(void* ctx);
  ResultCode (*setNetAttr)(void* ctx, NetAttrV12* attr);
};

inline constexpr const char* kNetSymbolV12 = "ncclNetPlugin_v12";

}  // namespace dlcp::nccl
