// The types that all versions of NCCL's net interface share, declared here so that building needs
// no installed NCCL. Layout and values are NCCL's; the names are DLCP's, except for struct fields,
// which keep NCCL's spelling. Source: the public plugin headers of NCCL 2.30. Declarations only:
// the semantics are described where the calls are implemented.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcp::nccl {

// ncclResult_t. kInProgress and kTimeout exist, but net plugin calls must not return them.
enum class ResultCode : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
  kTimeout = 8,
};

enum class LogLevel : int { kNone = 0, kVersion = 1, kWarn = 2, kInfo = 3, kAbort = 4, kTrace = 5 };

// Bits of the logger's `flags`; a message passes the user's filter if any of its bits does.
inline constexpr unsigned long kLogInit = 0x1;
inline constexpr unsigned long kLogNet = 0x10;
inline constexpr unsigned long kLogTuning = 0x40;
inline constexpr unsigned long kLogEnv = 0x80;
inline constexpr unsigned long kLogProfile = 0x4000;

using DebugLogger = void (*)(LogLevel level, unsigned long flags, const char* file, int line,
                             const char* format, ...);

// Lets a net plugin add events to the profiler; `event_type` is one of the four below.
using ProfilerCallback = ResultCode (*)(void** event, int event_type, void* phandle,
                                        std::int64_t plugin_id, void* data);
inline constexpr int kProfilerNetEventStart = 0;
inline constexpr int kProfilerNetEventStop = 1;
inline constexpr int kProfilerNetEventUpdate = 2;
inline constexpr int kProfilerNetEventUpdateAndStop = 3;

inline constexpr std::size_t kHandleBytes = 128;  // NCCL_NET_HANDLE_MAXSIZE
inline constexpr int kMaxRequests = 32;           // per communicator object; 8 for version 6
inline constexpr std::size_t kMaxNetBytes = std::size_t{1} << 40;     // maxP2pBytes, maxCollBytes
inline constexpr std::size_t kMaxNetBytesInt = std::size_t{1} << 30;  // one operation before v9

// regMr's `type` and the bits of ptrSupport.
inline constexpr int kPtrHost = 0x1;
inline constexpr int kPtrCuda = 0x2;
inline constexpr int kPtrDmaBuf = 0x4;

// Value of *request in irecv (NCCL >= 2.24): the caller does not need the completion.
inline constexpr std::uintptr_t kOptionalRecvCompletion = 0x1;

inline constexpr int kNetDeviceHost = 0;            // netDeviceType of a plugin without offload
inline constexpr int kNetDeviceInvalidVersion = 0;  // netDeviceVersion of such a plugin
inline constexpr int kUndefined = -1;               // traffic class, attributes, rail, plane

// Offload to the GPU (version 7 and later). A host plugin does not change the pointer that it
// receives.
struct NetDeviceHandle {
  int netDeviceType;
  int netDeviceVersion;
  void* handle;
  std::size_t size;
  int needsProxyProgress;
};

}  // namespace dlcp::nccl
