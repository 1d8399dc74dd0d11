// NCCL's profiler interface, version 6 (NCCL 2.29): version 5 plus events of copy engines.
#pragma once

#include "nccl/abi/profiler/profiler_v5.h"

namespace dlcp::nccl {

struct ProfiledCopyEngineColl {
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  const char* syncStrategy;
  bool intraBatchSync;
  std::uint32_t batchSize;
  std::uint32_t numBatches;
  std::uint32_t ceSeqNum;
  void* stream;
};

struct ProfiledCopyEngineSync {
  bool isComplete;
  int nRanks;
};

struct ProfiledCopyEngineBatch {
  int numOps;
  std::size_t totalBytes;
  bool useIntraSync;
};

struct ProfilerEventV6 {
  std::uint64_t type;
  void* parentObj;  // the parent event's handle, from startEvent
  int rank;
  union {
    ProfiledGroupApi groupApi;
    ProfiledCollApi collApi;
    ProfiledP2pApi p2pApi;
    ProfiledKernelLaunch kernelLaunch;
    ProfiledCollV5 coll;
    ProfiledP2pV5 p2p;
    ProfiledProxyOp proxyOp;
    ProfiledProxyStep proxyStep;
    ProfiledKernelChannel kernelCh;
    ProfiledNetPlugin netPlugin;
    ProfiledCopyEngineColl ceColl;
    ProfiledCopyEngineSync ceCollSync;
    ProfiledCopyEngineBatch ceCollBatch;
  };
};

using ProfilerV6 = ProfilerWithId<ProfilerEventV6>;

inline constexpr const char* kProfilerSymbolV6 = "ncclProfiler_v6";

}  // namespace dlcp::nccl
