// What the versions of NCCL's profiler interface share: event types and the parts of an event's
// description. Layout and values are NCCL's; the names are ours, except for struct fields. Source:
// the public profiler headers of NCCL 2.27 to 2.30. Declarations only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"

namespace dlcp::nccl {

// Bits of the activation mask, and an event's `type`. NCCL also starts what an active event needs
// above it: network events bring groups, collectives, proxy operations and steps.
inline constexpr std::uint64_t kProfileGroup = 1 << 0;
inline constexpr std::uint64_t kProfileColl = 1 << 1;
inline constexpr std::uint64_t kProfileP2p = 1 << 2;
inline constexpr std::uint64_t kProfileProxyOp = 1 << 3;
inline constexpr std::uint64_t kProfileProxyStep = 1 << 4;
inline constexpr std::uint64_t kProfileNetPlugin = 1 << 7;

struct ProfiledCollV4 {
  std::uint64_t seqNumber;
  const char* func;  // "AllReduce"
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;  // elements; of ReduceScatter the ones that a rank receives
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
  pid_t pid;  // of the process whose collective it is: with PXN not always ours
  std::uint8_t channelId;
  int peer;
  int nSteps;  // messages of this operation on this channel
  int chunkSize;
  int isSend;
};

struct ProfiledProxyStep {
  int step;  // 0-based message of its operation
};

struct ProfiledKernelChannel {
  std::uint8_t channelId;
  std::uint64_t pTimer;
};

// What the net plugin handed to the profiler callback.
struct ProfiledNetPlugin {
  std::int64_t id;
  void* data;
};

}  // namespace dlcp::nccl
