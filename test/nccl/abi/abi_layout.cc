// The layout of DLCP's declarations of NCCL's net interface, as numbers: offsets and sizes from the
// public headers of NCCL 2.30 on a 64-bit machine. The compiler checks the assertions.
#include "catch.h"
#include "nccl/abi/collnet.h"
#include "nccl/abi/net/net_v10.h"
#include "nccl/abi/net/net_v11.h"
#include "nccl/abi/net/net_v12.h"
#include "nccl/abi/net/net_v6.h"
#include "nccl/abi/net/net_v7.h"
#include "nccl/abi/net/net_v8.h"
#include "nccl/abi/net/net_v9.h"
#include "nccl/abi/profiler/profiler_v4.h"
#include "nccl/abi/profiler/profiler_v5.h"
#include "nccl/abi/profiler/profiler_v6.h"
#include "nccl/abi/tuner.h"

#define AT(type, field, offset) static_assert(offsetof(dlcp::nccl::type, field) == (offset))
#define SIZE(type, bytes) static_assert(sizeof(dlcp::nccl::type) == (bytes))
#define SLOT(type, field, index) AT(type, field, (index) * sizeof(void*))

SIZE(NetDeviceHandle, 32);
AT(NetDeviceHandle, netDeviceVersion, 4);
AT(NetDeviceHandle, handle, 8);
AT(NetDeviceHandle, size, 16);
AT(NetDeviceHandle, needsProxyProgress, 24);
SIZE(NetCommConfigV10, 4);
SIZE(NetCommConfigV11, 4);
SIZE(NetCommConfigV12, 4);
SIZE(NetVDevicePropertiesV9, 20);
SIZE(NetVDevicePropertiesV10, 20);
SIZE(NetVDevicePropertiesV11, 20);
SIZE(NetVDevicePropertiesV12, 36);
SIZE(NetCommAttrV11, 16);
AT(NetCommAttrV11, minConcurrentPeers, 4);
AT(NetCommAttrV11, maxFlowsPerPeer, 8);
AT(NetCommAttrV11, minFlowsPerPeer, 12);
SIZE(NetAttrV11, 44);
AT(NetAttrV11, recvCommAttr, 16);
AT(NetAttrV11, op, 32);
AT(NetAttrV11, algo, 36);
AT(NetAttrV11, proto, 40);
SIZE(NetAttrV12, 44);
SIZE(ResultCode, 4);
SIZE(LogLevel, 4);

#define PROPERTIES_V6(type) \
  AT(type, name, 0);        \
  AT(type, pciPath, 8);     \
  AT(type, guid, 16);       \
  AT(type, ptrSupport, 24); \
  AT(type, speed, 28);      \
  AT(type, port, 32);       \
  AT(type, latency, 36);    \
  AT(type, maxComms, 40);   \
  AT(type, maxRecvs, 44)
#define PROPERTIES_V9_AND_V12(type) \
  AT(type, name, 0);                \
  AT(type, pciPath, 8);             \
  AT(type, guid, 16);               \
  AT(type, ptrSupport, 24);         \
  AT(type, regIsGlobal, 28);        \
  AT(type, forceFlush, 32);         \
  AT(type, speed, 36);              \
  AT(type, port, 40);               \
  AT(type, latency, 44);            \
  AT(type, maxComms, 48);           \
  AT(type, maxRecvs, 52);           \
  AT(type, netDeviceType, 56);      \
  AT(type, netDeviceVersion, 60);   \
  AT(type, vProps, 64)
#define PROPERTIES_V9(type)    \
  PROPERTIES_V9_AND_V12(type); \
  AT(type, maxP2pBytes, 88);   \
  AT(type, maxCollBytes, 96)

SIZE(NetPropertiesV6, 48);
PROPERTIES_V6(NetPropertiesV6);
SIZE(NetPropertiesV7, 56);
PROPERTIES_V6(NetPropertiesV7);
AT(NetPropertiesV7, netDeviceType, 48);
AT(NetPropertiesV7, netDeviceVersion, 52);
SIZE(NetPropertiesV8, 64);
AT(NetPropertiesV8, name, 0);
AT(NetPropertiesV8, pciPath, 8);
AT(NetPropertiesV8, guid, 16);
AT(NetPropertiesV8, ptrSupport, 24);
AT(NetPropertiesV8, regIsGlobal, 28);
AT(NetPropertiesV8, speed, 32);
AT(NetPropertiesV8, port, 36);
AT(NetPropertiesV8, latency, 40);
AT(NetPropertiesV8, maxComms, 44);
AT(NetPropertiesV8, maxRecvs, 48);
AT(NetPropertiesV8, netDeviceType, 52);
AT(NetPropertiesV8, netDeviceVersion, 56);
SIZE(NetPropertiesV9, 104);
PROPERTIES_V9(NetPropertiesV9);
SIZE(NetPropertiesV10, 104);
PROPERTIES_V9(NetPropertiesV10);
SIZE(NetPropertiesV11, 112);
PROPERTIES_V9(NetPropertiesV11);
AT(NetPropertiesV11, maxMultiRequestSize, 104);
SIZE(NetPropertiesV12, 128);
PROPERTIES_V9_AND_V12(NetPropertiesV12);
AT(NetPropertiesV12, maxP2pBytes, 104);
AT(NetPropertiesV12, maxCollBytes, 112);
AT(NetPropertiesV12, maxMultiRequestSize, 120);
AT(NetPropertiesV12, railId, 124);
AT(NetPropertiesV12, planeId, 126);

#define NET_V6(type)            \
  SLOT(type, name, 0);          \
  SLOT(type, init, 1);          \
  SLOT(type, devices, 2);       \
  SLOT(type, getProperties, 3); \
  SLOT(type, listen, 4);        \
  SLOT(type, connect, 5);       \
  SLOT(type, accept, 6);        \
  SLOT(type, regMr, 7);         \
  SLOT(type, regMrDmaBuf, 8);   \
  SLOT(type, deregMr, 9);       \
  SLOT(type, isend, 10);        \
  SLOT(type, irecv, 11);        \
  SLOT(type, iflush, 12);       \
  SLOT(type, test, 13);         \
  SLOT(type, closeSend, 14);    \
  SLOT(type, closeRecv, 15);    \
  SLOT(type, closeListen, 16)
#define NET_V7(type)           \
  NET_V6(type);                \
  SLOT(type, getDeviceMr, 17); \
  SLOT(type, irecvConsumed, 18)
#define NET_V9(type) \
  NET_V7(type);      \
  SLOT(type, makeVDevice, 19)
#define NET_V11(type)       \
  NET_V9(type);             \
  SLOT(type, finalize, 20); \
  SLOT(type, setNetAttr, 21)

SIZE(NetV6, 17 * sizeof(void*));
NET_V6(NetV6);
SIZE(NetV7, 19 * sizeof(void*));
NET_V7(NetV7);
SIZE(NetV8, 19 * sizeof(void*));
NET_V7(NetV8);
SIZE(NetV9, 20 * sizeof(void*));
NET_V9(NetV9);
SIZE(NetV10, 20 * sizeof(void*));
NET_V9(NetV10);
SIZE(NetV11, 22 * sizeof(void*));
NET_V11(NetV11);
SIZE(NetV12, 22 * sizeof(void*));
NET_V11(NetV12);

#define PROFILER_EVENT(type, bytes) \
  SIZE(type, bytes);                \
  AT(type, parentObj, 8);           \
  AT(type, rank, 16);               \
  AT(type, coll.seqNumber, 24);     \
  AT(type, coll.func, 32);          \
  AT(type, coll.count, 56);         \
  AT(type, coll.datatype, 72);      \
  AT(type, coll.nChannels, 80);     \
  AT(type, coll.nWarps, 81);        \
  AT(type, coll.algo, 88);          \
  AT(type, coll.proto, 96);         \
  AT(type, proxyOp.pid, 24);        \
  AT(type, proxyOp.channelId, 28);  \
  AT(type, proxyOp.peer, 32);       \
  AT(type, proxyOp.nSteps, 36);     \
  AT(type, proxyOp.chunkSize, 40);  \
  AT(type, proxyOp.isSend, 44);     \
  AT(type, proxyStep.step, 24);     \
  AT(type, netPlugin.id, 24);       \
  AT(type, netPlugin.data, 32)
PROFILER_EVENT(ProfilerEventV4, 104);
PROFILER_EVENT(ProfilerEventV5, 112);
AT(ProfilerEventV5, coll.parentGroup, 104);
PROFILER_EVENT(ProfilerEventV6, 112);
AT(ProfilerEventV6, ceColl.stream, 104);
#define PROFILER(type)             \
  SIZE(type, 6 * sizeof(void*));   \
  SLOT(type, name, 0);             \
  SLOT(type, init, 1);             \
  SLOT(type, startEvent, 2);       \
  SLOT(type, stopEvent, 3);        \
  SLOT(type, recordEventState, 4); \
  SLOT(type, finalize, 5)
#define TUNER(type, slots, last)       \
  SIZE(type, (slots) * sizeof(void*)); \
  SLOT(type, name, 0);                 \
  SLOT(type, init, 1);                 \
  SLOT(type, getCollInfo, 2);          \
  SLOT(type, last, 3)
TUNER(TunerV3, 4, destroy);
TUNER(TunerV4, 4, destroy);
TUNER(TunerV5, 4, finalize);
TUNER(TunerV6, 5, finalize);
SLOT(TunerV6, getChunkSize, 4);
PROFILER(ProfilerV4);
PROFILER(ProfilerV5);
PROFILER(ProfilerV6);

SIZE(NetSgeV8, 24);
SIZE(NetSgeV9, 24);
AT(NetSgeV12, size, 16);
SIZE(CollNetV8, 17 * sizeof(void*));
SIZE(CollNetV9, 18 * sizeof(void*));
SIZE(CollNetV10, 18 * sizeof(void*));
SIZE(CollNetV11, 19 * sizeof(void*));
SIZE(CollNetV12, 19 * sizeof(void*));
SLOT(CollNetV8, listen, 4);
SLOT(CollNetV8, reduceSupport, 6);
SLOT(CollNetV8, iallreduce, 10);
SLOT(CollNetV8, test, 14);
SLOT(CollNetV8, closeListen, 16);
SLOT(CollNetV10, makeVDevice, 17);
SLOT(CollNetV12, connect, 5);
SLOT(CollNetV12, iallreduce, 10);
SLOT(CollNetV12, closeColl, 15);
SLOT(CollNetV12, makeVDevice, 17);
SLOT(CollNetV12, finalize, 18);

TEST_CASE("result codes and log bits have NCCL's values") {
  using dlcp::nccl::ResultCode;
  CHECK(static_cast<int>(ResultCode::kSystemError) == 2);
  CHECK(static_cast<int>(ResultCode::kInternalError) == 3);
  CHECK(static_cast<int>(ResultCode::kInvalidUsage) == 5);
  CHECK(static_cast<int>(ResultCode::kRemoteError) == 6);
  CHECK(static_cast<int>(dlcp::nccl::LogLevel::kWarn) == 2);
  CHECK(static_cast<int>(dlcp::nccl::LogLevel::kInfo) == 3);
  CHECK((dlcp::nccl::kLogInit | dlcp::nccl::kLogNet) == 0x11);
  CHECK(dlcp::nccl::kHandleBytes == 128);
}
