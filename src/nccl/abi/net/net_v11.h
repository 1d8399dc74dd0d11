// NCCL's net interface, version 11 (NCCL 2.28): one context per communicator, opened by init and
// closed by finalize, and setNetAttr, which states the collective of the next operations.
#pragma once

#include "nccl/abi/net/net_v10.h"

namespace dlcp::nccl {

using NetVDevicePropertiesV11 = NetVDevicePropertiesV10;
using NetCommConfigV11 = NetCommConfigV10;

struct NetCommAttrV11 {
  std::int32_t maxConcurrentPeers;
  std::int32_t minConcurrentPeers;
  std::int32_t maxFlowsPerPeer;
  std::int32_t minFlowsPerPeer;
};

// Bit masks: 1 << the function, algorithm or protocol in NCCL's numbering; all ones if undefined.
// algo and proto are outdated unless op is one of the five collectives (bits 0 to 4).
struct NetAttrV11 {
  NetCommAttrV11 sendCommAttr;
  NetCommAttrV11 recvCommAttr;
  std::uint32_t op;
  std::uint32_t algo;
  std::uint32_t proto;
};

struct NetPropertiesV11 {
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
  NetVDevicePropertiesV11 vProps;
  std::size_t maxP2pBytes;  // largest send or receive, at most kMaxNetBytes
  std::size_t maxCollBytes;
  int maxMultiRequestSize;  // requests in one multi-request
};

template <class Properties, class VDeviceProperties>
struct NetOfCommunicators {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, NetCommConfigV11* config, DebugLogger logger,
                     ProfilerCallback profiler);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, Properties* props);
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
  ResultCode (*makeVDevice)(int* d, VDeviceProperties* props);
  ResultCode (*finalize)(void* ctx);
  ResultCode (*setNetAttr)(void* ctx, NetAttrV11* attr);
};
using NetV11 = NetOfCommunicators<NetPropertiesV11, NetVDevicePropertiesV11>;

inline constexpr const char* kNetSymbolV11 = "ncclNetPlugin_v11";

}  // namespace dlcp::nccl
