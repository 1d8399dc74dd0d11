// NCCL's net interface, version 12 (NCCL 2.30): version 11 with eight devices per virtual NIC
// instead of four, which moves the later fields of the properties, and with rail and plane numbers.
#pragma once

#include "nccl/abi/net/net_v11.h"

namespace dlcp::nccl {

struct NetVDevicePropertiesV12 {
  int ndevs;
  int devs[8];
};

using NetCommConfigV12 = NetCommConfigV11;
using NetAttrV12 = NetAttrV11;

struct NetPropertiesV12 {
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
  NetVDevicePropertiesV12 vProps;
  std::size_t maxP2pBytes;  // largest send or receive, at most kMaxNetBytes
  std::size_t maxCollBytes;
  int maxMultiRequestSize;  // requests in one multi-request
  std::int16_t railId;      // kUndefined if unknown
  std::int16_t planeId;     // kUndefined if unknown
};

using NetV12 = NetOfCommunicators<NetPropertiesV12, NetVDevicePropertiesV12>;

inline constexpr const char* kNetSymbolV12 = "ncclNetPlugin_v12";

}  // namespace dlcp::nccl
