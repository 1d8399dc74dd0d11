// The net plugin, once: what every version of NCCL's interface comes down to. Each function is the
// whole of an exported call (nothing is thrown, a forked child is turned back, *request, *comm and
// *done are always stored); the files net_v*.cc only adapt signatures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"
#include "nccl/guard.h"
#include "nccl/properties.h"
#include "util/result.h"

namespace dlcp::nccl {

class Context;
struct NetAttrV11;

namespace net {

// ---- the process and its devices (net_process.cc) ----
// `callback` null: the interface has none, so nobody can say what a transfer belongs to.
ResultCode init_process(DebugLogger logger, ProfilerCallback callback = nullptr) noexcept;
// One communicator; *context goes to listen, connect and finalize.
ResultCode init_communicator(void** context, std::uint64_t comm_id, int communicator_class,
                             DebugLogger logger, ProfilerCallback callback) noexcept;
// What this thread's next transfers belong to.
ResultCode set_attributes(void* context, NetAttrV11* attributes) noexcept;
ResultCode finalize_communicator(void* context) noexcept;
ResultCode devices(int* count) noexcept;
Result<DeviceProperties> properties(int device);

template <class Properties>
ResultCode get_properties(int device, Properties* out) noexcept {
  return guarded(
      "getProperties",
      [&] {
        auto found = properties(device);
        if (!found) return refuse(found.error());
        fill(*out, found.value(), device);
        return ResultCode::kSuccess;
      });
}

// ---- connections (net_connect.cc) ----
// `context` null: the one of the process.
ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept;
// Success with *comm null: not yet, call again with the same handle memory. `communicator_class`:
// where each connection has its own; else the context's counts.
ResultCode connect(void* context, int device, void* handle, void** send_comm,
                   int communicator_class = kUndefined) noexcept;
ResultCode accept(void* listen_comm, void** recv_comm) noexcept;
// Return at once, except that the last close of a process without contexts waits DLCP_LINGER at
// most.
ResultCode close_comm(void* comm) noexcept;
ResultCode close_listen(void* listen_comm) noexcept;

// ---- memory and messages (net_transfer.cc) ----
ResultCode register_memory(void* comm, void* data, std::size_t bytes, int type,
                           void** registration) noexcept;
ResultCode deregister_memory(void* comm, void* registration) noexcept;
// Success with *request null: not now, call again. `phandle` null: NCCL did not give one.
ResultCode send(void* send_comm, void* data, std::size_t bytes, void* registration, void* phandle,
                void** request) noexcept;
ResultCode receive(void* recv_comm, int count, void** data, const std::size_t* bytes,
                   void** registrations, void** phandles, void** request) noexcept;
ResultCode flush(void** request) noexcept;
ResultCode test(void* request, int* done, int* sizes) noexcept;

}  // namespace net
}  // namespace dlcp::nccl
