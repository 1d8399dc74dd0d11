// The layout of DLCP's declarations of NCCL's net interface, as numbers: offsets and sizes from the
// public headers of NCCL 2.30 on a 64-bit machine. The compiler checks the assertions.
#include "catch.h"
#include "nccl/abi/collnet.h"
#include "nccl/abi/net_v10.h"
#include "nccl/abi/net_v11.h"
#include "nccl/abi/net_v12.h"
#include "nccl/abi/net_v6.h"
#include "nccl/abi/net_v7.h"
#include "nccl/abi/net_v8.h"
#include "nccl/abi/net_v9.h"
#include "nccl/abi/profiler_v4.h"
#include "nccl/abi/profiler_v5.h"
#include "nccl/abi/profiler_v6.h"
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

SIZE(NetPropertiesV6, 48);
AT(NetPropertiesV6, name, 0);
AT(NetPropertiesV6, pciPath, 8);
AT(NetPropertiesV6, guid, 16);
AT(NetPropertiesV6, ptrSupport, 24);
AT(NetPropertiesV6, speed, 28);
AT(NetPropertiesV6, port, 32);
AT(NetPropertiesV6, latency, 36);
AT(NetPropertiesV6, maxComms, 40);
AT(NetPropertiesV6, maxRecvs, 44);

SIZE(NetV6, 17 * sizeof(void*));
SLOT(NetV6, name, 0);
SLOT(NetV6, init, 1);
SLOT(NetV6, devices, 2);
SLOT(NetV6, getProperties, 3);
SLOT(NetV6, listen, 4);
SLOT(NetV6, connect, 5);
SLOT(NetV6, accept, 6);
SLOT(NetV6, regMr, 7);
SLOT(NetV6, regMrDmaBuf, 8);
SLOT(NetV6, deregMr, 9);
SLOT(NetV6, isend, 10);
SLOT(NetV6, irecv, 11);
SLOT(NetV6, iflush, 12);
SLOT(NetV6, test, 13);
SLOT(NetV6, closeSend, 14);
SLOT(NetV6, closeRecv, 15);
SLOT(NetV6, closeListen, 16);

SIZE(NetPropertiesV7, 56);
AT(NetPropertiesV7, name, 0);
AT(NetPropertiesV7, pciPath, 8);
AT(NetPropertiesV7, guid, 16);
AT(NetPropertiesV7, ptrSupport, 24);
AT(NetPropertiesV7, speed, 28);
AT(NetPropertiesV7, port, 32);
AT(NetPropertiesV7, latency, 36);
AT(NetPropertiesV7, maxComms, 40);
AT(NetPropertiesV7, maxRecvs, 44);
AT(NetPropertiesV7, netDeviceType, 48);
AT(NetPropertiesV7, netDeviceVersion, 52);

SIZE(NetV7, 19 * sizeof(void*));
SLOT(NetV7, name, 0);
SLOT(NetV7, init, 1);
SLOT(NetV7, devices, 2);
SLOT(NetV7, getProperties, 3);
SLOT(NetV7, listen, 4);
SLOT(NetV7, connect, 5);
SLOT(NetV7, accept, 6);
SLOT(NetV7, regMr, 7);
SLOT(NetV7, regMrDmaBuf, 8);
SLOT(NetV7, deregMr, 9);
SLOT(NetV7, isend, 10);
SLOT(NetV7, irecv, 11);
SLOT(NetV7, iflush, 12);
SLOT(NetV7, test, 13);
SLOT(NetV7, closeSend, 14);
SLOT(NetV7, closeRecv, 15);
SLOT(NetV7, closeListen, 16);
SLOT(NetV7, getDeviceMr, 17);
SLOT(NetV7, irecvConsumed, 18);

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

SIZE(NetV8, 19 * sizeof(void*));
SLOT(NetV8, name, 0);
SLOT(NetV8, init, 1);
SLOT(NetV8, devices, 2);
SLOT(NetV8, getProperties, 3);
SLOT(NetV8, listen, 4);
SLOT(NetV8, connect, 5);
SLOT(NetV8, accept, 6);
SLOT(NetV8, regMr, 7);
SLOT(NetV8, regMrDmaBuf, 8);
SLOT(NetV8, deregMr, 9);
SLOT(NetV8, isend, 10);
SLOT(NetV8, irecv, 11);
SLOT(NetV8, iflush, 12);
SLOT(NetV8, test, 13);
SLOT(NetV8, closeSend, 14);
SLOT(NetV8, closeRecv, 15);
SLOT(NetV8, closeListen, 16);
SLOT(NetV8, getDeviceMr, 17);
SLOT(NetV8, irecvConsumed, 18);

SIZE(NetPropertiesV9, 104);
AT(NetPropertiesV9, name, 0);
AT(NetPropertiesV9, pciPath, 8);
AT(NetPropertiesV9, guid, 16);
AT(NetPropertiesV9, ptrSupport, 24);
AT(NetPropertiesV9, regIsGlobal, 28);
AT(NetPropertiesV9, forceFlush, 32);
AT(NetPropertiesV9, speed, 36);
AT(NetPropertiesV9, port, 40);
AT(NetPropertiesV9, latency, 44);
AT(NetPropertiesV9, maxComms, 48);
AT(NetPropertiesV9, maxRecvs, 52);
AT(NetPropertiesV9, netDeviceType, 56);
AT(NetPropertiesV9, netDeviceVersion, 60);
AT(NetPropertiesV9, vProps, 64);
AT(NetPropertiesV9, maxP2pBytes, 88);
AT(NetPropertiesV9, maxCollBytes, 96);

SIZE(NetV9, 20 * sizeof(void*));
SLOT(NetV9, name, 0);
SLOT(NetV9, init, 1);
SLOT(NetV9, devices, 2);
SLOT(NetV9, getProperties, 3);
SLOT(NetV9, listen, 4);
SLOT(NetV9, connect, 5);
SLOT(NetV9, accept, 6);
SLOT(NetV9, regMr, 7);
SLOT(NetV9, regMrDmaBuf, 8);
SLOT(NetV9, deregMr, 9);
SLOT(NetV9, isend, 10);
SLOT(NetV9, irecv, 11);
SLOT(NetV9, iflush, 12);
SLOT(NetV9, test, 13);
SLOT(NetV9, closeSend, 14);
SLOT(NetV9, closeRecv, 15);
SLOT(NetV9, closeListen, 16);
SLOT(NetV9, getDeviceMr, 17);
SLOT(NetV9, irecvConsumed, 18);
SLOT(NetV9, makeVDevice, 19);

SIZE(NetPropertiesV10, 104);
AT(NetPropertiesV10, name, 0);
AT(NetPropertiesV10, pciPath, 8);
AT(NetPropertiesV10, guid, 16);
AT(NetPropertiesV10, ptrSupport, 24);
AT(NetPropertiesV10, regIsGlobal, 28);
AT(NetPropertiesV10, forceFlush, 32);
AT(NetPropertiesV10, speed, 36);
AT(NetPropertiesV10, port, 40);
AT(NetPropertiesV10, latency, 44);
AT(NetPropertiesV10, maxComms, 48);
AT(NetPropertiesV10, maxRecvs, 52);
AT(NetPropertiesV10, netDeviceType, 56);
AT(NetPropertiesV10, netDeviceVersion, 60);
AT(NetPropertiesV10, vProps, 64);
AT(NetPropertiesV10, maxP2pBytes, 88);
AT(NetPropertiesV10, maxCollBytes, 96);

SIZE(NetV10, 20 * sizeof(void*));
SLOT(NetV10, name, 0);
SLOT(NetV10, init, 1);
SLOT(NetV10, devices, 2);
SLOT(NetV10, getProperties, 3);
SLOT(NetV10, listen, 4);
SLOT(NetV10, connect, 5);
SLOT(NetV10, accept, 6);
SLOT(NetV10, regMr, 7);
SLOT(NetV10, regMrDmaBuf, 8);
SLOT(NetV10, deregMr, 9);
SLOT(NetV10, isend, 10);
SLOT(NetV10, irecv, 11);
SLOT(NetV10, iflush, 12);
SLOT(NetV10, test, 13);
SLOT(NetV10, closeSend, 14);
SLOT(NetV10, closeRecv, 15);
SLOT(NetV10, closeListen, 16);
SLOT(NetV10, getDeviceMr, 17);
SLOT(NetV10, irecvConsumed, 18);
SLOT(NetV10, makeVDevice, 19);

SIZE(NetPropertiesV11, 112);
AT(NetPropertiesV11, name, 0);
AT(NetPropertiesV11, pciPath, 8);
AT(NetPropertiesV11, guid, 16);
AT(NetPropertiesV11, ptrSupport, 24);
AT(NetPropertiesV11, regIsGlobal, 28);
AT(NetPropertiesV11, forceFlush, 32);
AT(NetPropertiesV11, speed, 36);
AT(NetPropertiesV11, port, 40);
AT(NetPropertiesV11, latency, 44);
AT(NetPropertiesV11, maxComms, 48);
AT(NetPropertiesV11, maxRecvs, 52);
AT(NetPropertiesV11, netDeviceType, 56);
AT(NetPropertiesV11, netDeviceVersion, 60);
AT(NetPropertiesV11, vProps, 64);
AT(NetPropertiesV11, maxP2pBytes, 88);
AT(NetPropertiesV11, maxCollBytes, 96);
AT(NetPropertiesV11, maxMultiRequestSize, 104);

SIZE(NetV11, 22 * sizeof(void*));
SLOT(NetV11, name, 0);
SLOT(NetV11, init, 1);
SLOT(NetV11, devices, 2);
SLOT(NetV11, getProperties, 3);
SLOT(NetV11, listen, 4);
SLOT(NetV11, connect, 5);
SLOT(NetV11, accept, 6);
SLOT(NetV11, regMr, 7);
SLOT(NetV11, regMrDmaBuf, 8);
SLOT(NetV11, deregMr, 9);
SLOT(NetV11, isend, 10);
SLOT(NetV11, irecv, 11);
SLOT(NetV11, iflush, 12);
SLOT(NetV11, test, 13);
SLOT(NetV11, closeSend, 14);
SLOT(NetV11, closeRecv, 15);
SLOT(NetV11, closeListen, 16);
SLOT(NetV11, getDeviceMr, 17);
SLOT(NetV11, irecvConsumed, 18);
SLOT(NetV11, makeVDevice, 19);
SLOT(NetV11, finalize, 20);
SLOT(NetV11, setNetAttr, 21);

SIZE(NetPropertiesV12, 128);
AT(NetPropertiesV12, name, 0);
AT(NetPropertiesV12, pciPath, 8);
AT(NetPropertiesV12, guid, 16);
AT(NetPropertiesV12, ptrSupport, 24);
AT(NetPropertiesV12, regIsGlobal, 28);
AT(NetPropertiesV12, forceFlush, 32);
AT(NetPropertiesV12, speed, 36);
AT(NetPropertiesV12, port, 40);
AT(NetPropertiesV12, latency, 44);
AT(NetPropertiesV12, maxComms, 48);
AT(NetPropertiesV12, maxRecvs, 52);
AT(NetPropertiesV12, netDeviceType, 56);
AT(NetPropertiesV12, netDeviceVersion, 60);
AT(NetPropertiesV12, vProps, 64);
AT(NetPropertiesV12, maxP2pBytes, 104);
AT(NetPropertiesV12, maxCollBytes, 112);
AT(NetPropertiesV12, maxMultiRequestSize, 120);
AT(NetPropertiesV12, railId, 124);
AT(NetPropertiesV12, planeId, 126);

SIZE(NetV12, 22 * sizeof(void*));
SLOT(NetV12, name, 0);
SLOT(NetV12, init, 1);
SLOT(NetV12, devices, 2);
SLOT(NetV12, getProperties, 3);
SLOT(NetV12, listen, 4);
SLOT(NetV12, connect, 5);
SLOT(NetV12, accept, 6);
SLOT(NetV12, regMr, 7);
SLOT(NetV12, regMrDmaBuf, 8);
SLOT(NetV12, deregMr, 9);
SLOT(NetV12, isend, 10);
SLOT(NetV12, irecv, 11);
SLOT(NetV12, iflush, 12);
SLOT(NetV12, test, 13);
SLOT(NetV12, closeSend, 14);
SLOT(NetV12, closeRecv, 15);
SLOT(NetV12, closeListen, 16);
SLOT(NetV12, getDeviceMr, 17);
SLOT(NetV12, irecvConsumed, 18);
SLOT(NetV12, makeVDevice, 19);
SLOT(NetV12, finalize, 20);
SLOT(NetV12, setNetAttr, 21);

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
