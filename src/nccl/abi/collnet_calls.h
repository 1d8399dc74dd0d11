// The calls of NCCL's collective network interface that its versions have in common.
#pragma once

#include "nccl/abi/types.h"

namespace dlcp::nccl {

// One entry of a scatter list.
template <class Size>
struct NetSge {
  void* mhandle;
  void* address;
  Size size;
};
using NetSgeV8 = NetSge<std::uint32_t>;
using NetSgeV9 = NetSge<std::size_t>;
using NetSgeV12 = NetSgeV9;

using CollNetConnect = ResultCode (*)(void* handles[], int nranks, int rank, void* listenComm,
                                      void** collComm);
using CollNetReduceSupport = ResultCode (*)(int dataType, int redOp, int* supported);
using CollNetRegister = ResultCode (*)(void* collComm, void* data, std::size_t size, int type,
                                       void** mhandle);
using CollNetRegisterDmaBuf = ResultCode (*)(void* collComm, void* data, std::size_t size, int type,
                                             std::uint64_t offset, int fd, void** mhandle);
using CollNetDeregister = ResultCode (*)(void* collComm, void* mhandle);
template <class Count>
using CollNetAllReduce = ResultCode (*)(void* collComm, void* sendData, void* recvData, Count count,
                                        int dataType, int redOp, void* sendMhandle,
                                        void* recvMhandle, void** request);
template <class Sge>
using CollNetAllGather = ResultCode (*)(void* collComm, void* sendData, int nRecvParts,
                                        Sge* recvParts, std::size_t bytesPerRank,
                                        std::size_t windowOffset, std::size_t windowBytes,
                                        void* sendMhandle, void** request);
template <class Sge>
using CollNetReduceScatter = ResultCode (*)(void* collComm, int nSendParts, Sge* sendParts,
                                            void* recvData, std::size_t bytesPerRank,
                                            std::size_t windowOffset, std::size_t windowBytes,
                                            int dataType, int redOp, void* recvMhandle,
                                            void** request);
using CollNetFlush = ResultCode (*)(void* collComm, void* data, int size, void* mhandle,
                                    void** request);
using CollNetTest = ResultCode (*)(void* request, int* done, int* size);
using CollNetClose = ResultCode (*)(void* comm);

}  // namespace dlcp::nccl
