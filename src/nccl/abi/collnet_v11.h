// NCCL's collective network interface, version 11 (NCCL 2.28, 2.29). Version 10 with a context per
// communicator.
#pragma once

#include "nccl/abi/net_v11.h"

namespace dlcp::nccl {

struct NetSgeV11 {
  void* mhandle;
  void* address;
  std::size_t size;
};

struct CollNetV11 {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV11* props);
  ResultCode (*listen)(void* ctx, int dev, void* handle, void** listenComm);
  ResultCode (*connect)(void* handles[], int nranks, int rank, void* listenComm, void** collComm);
  ResultCode (*reduceSupport)(int dataType, int redOp, int* supported);
  ResultCode (*regMr)(void* collComm, void* data, std::size_t size, int type, void** mhandle);
  ResultCode (*regMrDmaBuf)(void* collComm, void* data, std::size_t size, int type,
                            std::uint64_t offset, int fd, void** mhandle);
  ResultCode (*deregMr)(void* collComm, void* mhandle);
  ResultCode (*iallreduce)(void* collComm, void* sendData, void* recvData, std::size_t count,
                           int dataType, int redOp, void* sendMhandle, void* recvMhandle,
                           void** request);
  ResultCode (*iallgather)(void* collComm, void* sendData, int nRecvParts, NetSgeV11* recvParts,
                           std::size_t bytesPerRank, std::size_t windowOffset,
                           std::size_t windowBytes, void* sendMhandle, void** request);
  ResultCode (*ireducescatter)(void* collComm, int nSendParts, NetSgeV11* sendParts, void* recvData,
                               std::size_t bytesPerRank, std::size_t windowOffset,
                               std::size_t windowBytes, int dataType, int redOp, void* recvMhandle,
                               void** request);
  ResultCode (*iflush)(void* collComm, void* data, int size, void* mhandle, void** request);
  ResultCode (*test)(void* request, int* done, int* size);
  ResultCode (*closeColl)(void* collComm);
  ResultCode (*closeListen)(void* listenComm);
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV11* props);
  ResultCode (*finalize)(void* ctx);
};

inline constexpr const char* kCollNetSymbolV11 = "ncclCollNetPlugin_v11";

}  // namespace dlcp::nccl
