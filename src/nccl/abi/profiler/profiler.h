// The common parts of the versions of NCCL's profiler interface: event types and parts of an
// event's description. Layout and values are NCCL's; the names are DLCP's, except for struct
// fields. Source: the public profiler headers of NCCL 2.27 to 2.30. Declarations only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"

namespace dlcp::nccl {

// Bits of the activation mask, and of an event's `type`. NCCL also starts the parents of an active
// event: network events require groups, collectives, proxy operations and steps.
inline constexpr std::uint64_t kProfileGroup = 1 << 0;
inline constexpr std::uint64_t kProfileColl = 1 << 1;
inline constexpr std::uint64_t kProfileP2p = 1 << 2;
inline constexpr std::uint64_t kProfileProxyOp = 1 << 3;
inline constexpr std::uint64_t kProfileProxyStep = 1 << 4;
inline constexpr std::uint64_t kProfileKernelCh = 1 << 6;
inline constexpr std::uint64_t kProfileNetPlugin = 1 << 7;

// States that recordEventState reports of a step: a receive was posted; its data is there, and is
// flushed or waits for the GPU.
inline constexpr int kStepReceiveWait = 10;
inline constexpr int kStepReceiveFlushWait = 11;
inline constexpr int kStepReceiveGpuWait = 12;
inline constexpr int kKernelChannelStop = 22;  // of a kernel event, before it is stopped

struct ProfiledCollV4 {
  std::uint64_t seqNumber;
  const char* func;  // "AllReduce"
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;  // elements; for ReduceScatter the number that a rank receives
  int root;
  const char* datatype;  // "ncclFloat32"
  std::uint8_t nChannels;
  std::uint8_t nWarps;
  const char* algo;   // "RING"
  const char* proto;  // "SIMPLE"
};

struct ProfiledP2pV4 {
  const char* func;
  void* buff;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t nChannels;
};

struct ProfiledProxyOp {
  pid_t pid;  // process that started the collective; with PXN it may be another process
  std::uint8_t channelId;
  int peer;
  int nSteps;  // messages of this operation on this channel
  int chunkSize;
  int isSend;
};

struct ProfiledProxyStep {
  int step;  // 0-based message number in its operation
};

struct ProfiledKernelChannel {
  std::uint8_t channelId;
  std::uint64_t pTimer;
};

// The arguments that the net plugin passed to the profiler callback.
struct ProfiledNetPlugin {
  std::int64_t id;
  void* data;
};

}  // namespace dlcp::nccl
