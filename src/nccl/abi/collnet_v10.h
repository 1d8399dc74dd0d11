// NCCL's collective network interface, version 10 (NCCL 2.26, 2.27). Version 9; only the properties
// differ.
#pragma once

#include "nccl/abi/net_v10.h"

namespace dlcp::nccl {

struct NetSgeV10 {
  void* mhandle;
  void* address;
  std::size_t size;
};

struct CollNetV10 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV10* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  ResultCode (*connect)(void* handles[], int nranks, int rank, void* listenComm, void** collComm);
  ResultCode (*reduceSupport)(int dataType, int redOp, int* supported);
  ResultCode (*regMr)(void* collComm, void* data, std::size_t size, int type, void** mhandle);
  ResultCode (*regMrDmaBuf)(void* collComm, void* data, std::size_t size, int type,
                            std::uint64_t offset, int fd, void** mhandle);
  ResultCode (*deregMr)(void* collComm, void* mhandle);
  ResultCode (*iallreduce)(void* collComm, void* sendData, void* recvData, std::size_t count,
                           int dataType, int redOp, void* sendMhandle, void* recvMhandle,
                           void** request);
  ResultCode (*iallgather)(void* collComm, void* sendData, int nRecvParts, NetSgeV10* recvParts,
                           std::size_t bytesPerRank, std::size_t windowOffset,
                           std::size_t windowBytes, void* sendMhandle, void** request);
  ResultCode (*ireducescatter)(void* collComm, int nSendParts, NetSgeV10* sendParts, void* recvData,
                               std::size_t bytesPerRank, std::size_t windowOffset,
                               std::size_t windowBytes, int dataType, int redOp, void* recvMhandle,
                               void** request);
  ResultCode (*iflush)(void* collComm, void* data, int size, void* mhandle, void** request);
  ResultCode (*test)(void* request, int* done, int* size);
  ResultCode (*closeColl)(void* collComm);
  ResultCode (*closeListen)(void* listenComm);
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV10* props);
};

inline constexpr const char* kCollNetSymbolV10 = "ncclCollNetPlugin_v10";

}  // namespace dlcp::nccl
