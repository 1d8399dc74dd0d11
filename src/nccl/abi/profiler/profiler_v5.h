// NCCL's profiler interface, version 5 (NCCL 2.28): wider event types, events of API calls, and the
// communicator's ID as the first argument of init.
#pragma once

#include "nccl/abi/profiler/profiler_v4.h"

namespace dlcp::nccl {

struct ProfiledGroupApi {
  bool graphCaptured;
  int groupDepth;
};

struct ProfiledCollApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graphCaptured;
};

struct ProfiledP2pApi {
  const char* func;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graphCaptured;
};

struct ProfiledKernelLaunch {
  void* stream;
};

struct ProfiledCollV5 {  // version 4's fields and the group
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t nChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
  void* parentGroup;
};

struct ProfiledP2pV5 {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
  void* parentGroup;
};

struct ProfilerEventV5 {
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
  };
};

template <class Event>
struct ProfilerWithId {
  const char* name;
  ResultCode (*init)(void** context, std::uint64_t commId, int* eActivationMask,
                     const char* commName, int nNodes, int nranks, int rank, DebugLogger logger);
  ResultCode (*startEvent)(void* context, void** eHandle, Event* eDescr);
  ResultCode (*stopEvent)(void* eHandle);
  ResultCode (*recordEventState)(void* eHandle, int eState, void* eStateArgs);
  ResultCode (*finalize)(void* context);
};
using ProfilerV5 = ProfilerWithId<ProfilerEventV5>;

inline constexpr const char* kProfilerSymbolV5 = "ncclProfiler_v5";

}  // namespace dlcp::nccl
