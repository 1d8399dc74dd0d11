// NCCL's collective network interface, versions 8 (NCCL 2.20) to 12 (2.30). Version 9 (2.24) has
// sizes of any length and virtual NICs. Version 10 (2.26) changes nothing here. Version 11 (2.28)
// has a context per communicator. Version 12 differs only in the properties. Declarations only.
#pragma once

#include "nccl/abi/collnet_calls.h"
#include "nccl/abi/net/net_v10.h"
#include "nccl/abi/net/net_v11.h"
#include "nccl/abi/net/net_v12.h"
#include "nccl/abi/net/net_v8.h"
#include "nccl/abi/net/net_v9.h"

namespace dlcp::nccl {

struct CollNetV8 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV8* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  CollNetConnect connect;
  CollNetReduceSupport reduceSupport;
  CollNetRegister regMr;
  CollNetRegisterDmaBuf regMrDmaBuf;
  CollNetDeregister deregMr;
  CollNetAllReduce<int> iallreduce;
  CollNetAllGather<NetSgeV8> iallgather;
  CollNetReduceScatter<NetSgeV8> ireducescatter;
  CollNetFlush iflush;
  CollNetTest test;
  CollNetClose closeColl;
  CollNetClose closeListen;
};

struct CollNetV9 {
  const char* name;
  ResultCode (*init)(DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, NetPropertiesV9* props);
  ResultCode (*listen)(int dev, void* handle, void** listenComm);
  CollNetConnect connect;
  CollNetReduceSupport reduceSupport;
  CollNetRegister regMr;
  CollNetRegisterDmaBuf regMrDmaBuf;
  CollNetDeregister deregMr;
  CollNetAllReduce<std::size_t> iallreduce;
  CollNetAllGather<NetSgeV9> iallgather;
  CollNetReduceScatter<NetSgeV9> ireducescatter;
  CollNetFlush iflush;
  CollNetTest test;
  CollNetClose closeColl;
  CollNetClose closeListen;
  ResultCode (*makeVDevice)(int* d, NetVDevicePropertiesV9* props);
};
using CollNetV10 = CollNetV9;

template <class Properties, class VDeviceProperties>
struct CollNetOfCommunicators {
  const char* name;
  ResultCode (*init)(void** ctx, std::uint64_t commId, DebugLogger logger);
  ResultCode (*devices)(int* ndev);
  ResultCode (*getProperties)(int dev, Properties* props);
  ResultCode (*listen)(void* ctx, int dev, void* handle, void** listenComm);
  CollNetConnect connect;
  CollNetReduceSupport reduceSupport;
  CollNetRegister regMr;
  CollNetRegisterDmaBuf regMrDmaBuf;
  CollNetDeregister deregMr;
  CollNetAllReduce<std::size_t> iallreduce;
  CollNetAllGather<NetSgeV9> iallgather;
  CollNetReduceScatter<NetSgeV9> ireducescatter;
  CollNetFlush iflush;
  CollNetTest test;
  CollNetClose closeColl;
  CollNetClose closeListen;
  ResultCode (*makeVDevice)(int* d, VDeviceProperties* props);
  ResultCode (*finalize)(void* ctx);
};
using CollNetV11 = CollNetOfCommunicators<NetPropertiesV11, NetVDevicePropertiesV11>;
using CollNetV12 = CollNetOfCommunicators<NetPropertiesV12, NetVDevicePropertiesV12>;

inline constexpr const char* kCollNetSymbolV8 = "ncclCollNetPlugin_v8";
inline constexpr const char* kCollNetSymbolV9 = "ncclCollNetPlugin_v9";
inline constexpr const char* kCollNetSymbolV10 = "ncclCollNetPlugin_v10";
inline constexpr const char* kCollNetSymbolV11 = "ncclCollNetPlugin_v11";
inline constexpr const char* kCollNetSymbolV12 = "ncclCollNetPlugin_v12";

}  // namespace dlcp::nccl
