// NCCL's profiler interface, version 4 (NCCL 2.27).
#pragma once

#include "nccl/abi/profiler/profiler.h"

namespace dlcp::nccl {

struct ProfilerEventV4 {
  std::uint8_t type;
  void* parentObj;  // the parent event's handle, from startEvent
  int rank;
  union {
    ProfiledCollV4 coll;
    ProfiledP2pV4 p2p;
    ProfiledProxyOp proxyOp;
    ProfiledProxyStep proxyStep;
    ProfiledKernelChannel kernelCh;
    ProfiledNetPlugin netPlugin;
  };
};

struct ProfilerV4 {
  const char* name;
  ResultCode (*init)(void** context, int* eActivationMask, const char* commName,
                     std::uint64_t commHash, int nNodes, int nranks, int rank, DebugLogger logger);
  ResultCode (*startEvent)(void* context, void** eHandle, ProfilerEventV4* eDescr);
  ResultCode (*stopEvent)(void* eHandle);
  ResultCode (*recordEventState)(void* eHandle, int eState, void* eStateArgs);
  ResultCode (*finalize)(void* context);
};

inline constexpr const char* kProfilerSymbolV4 = "ncclProfiler_v4";

}  // namespace dlcp::nccl
