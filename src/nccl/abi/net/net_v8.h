// NCCL's net interface, version 8 (NCCL 2.20): adds regIsGlobal in the middle of the properties,
// and registrations of more than 2 GiB.
#pragma once

#include "nccl/abi/net/net_v7.h"

namespace dlcp::nccl {

struct NetPropertiesV8 {
  char* name;
  char* pciPath;
  std::uint64_t guid;
  int ptrSupport;
  int regIsGlobal;  // a registration is valid for every communicator
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;  // kNetDeviceHost
  int netDeviceVersion;
};

using NetV8 = NetWithOffload<NetPropertiesV8, std::size_t>;

inline constexpr const char* kNetSymbolV8 = "ncclNetPlugin_v8";

}  // namespace dlcp::nccl
