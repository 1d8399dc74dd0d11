// NCCL's net interface, version 6: every NCCL from 2.13.4 to 2.30 looks it up, so it is the oldest
// version that DLCP supports. Sizes are int (NCCL limits one operation to 1 GiB); there is no
// context and no finalize.
#pragma once

#include "nccl/abi/types.h"

namespace dlcp::nccl {

struct NetPropertiesV6 {
  char* name;          // for logs; the plugin owns the text
  char* pciPath;       // under /sys; may be null
  std::uint64_t guid;  // equal for devices that share a port
  int ptrSupport;      // kPtrHost | kPtrCuda | kPtrDmaBuf
  int speed;           // Mbit/s
  int port;
  float latency;  // microseconds; 0: NCCL uses its own value
  int maxComms;
  int maxRecvs;  // receives that one irecv may combine
};

struct NetV6 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV6* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(int dev, void* handle, void** sendComm);
  ResultCode (*accept)(void* listenComm, void** recvComm);
  ResultCode (*regMr)(void* comm, void* data, int size, int type, void** mhandle);
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
};

inline constexpr const char* kNetSymbolV6 = "ncclNetPlugin_v6";

}  // namespace dlcp::nccl
