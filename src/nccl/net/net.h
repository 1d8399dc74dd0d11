// The implementation of the net plugin for all versions of NCCL's interface. Each function is a
// complete exported call: it throws nothing, rejects forked children, and always stores *request,
// *comm and *done. The files net_v*.cc only adapt signatures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"
#include "nccl/context/guard.h"
#include "nccl/net/properties.h"
#include "util/result.h"

namespace dlcp::nccl {

class Context;
struct NetAttrV11;

namespace net {

// ---- the process and its devices (net_process.cc) ----
// `callback` is null if the interface has none; transfers cannot be identified then.
ResultCode init_process(DebugLogger logger, ProfilerCallback callback = nullptr) noexcept;
// Opens one communicator; *context is passed to listen, connect and finalize.
ResultCode init_communicator(void** context, std::uint64_t comm_id, int communicator_class,
                             DebugLogger logger, ProfilerCallback callback) noexcept;
// States what this thread's next transfers belong to.
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
// If `context` is null, the context of the calling thread is used.
ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept;
// Success with *comm null: not connected yet; call again with the same handle memory.
// `communicator_class` is used if each connection has its own; otherwise the context's is.
ResultCode connect(void* context, int device, void* handle, void** send_comm,
                   int communicator_class = kUndefined) noexcept;
ResultCode accept(void* listen_comm, void** recv_comm) noexcept;
// These return at once, with two exceptions: the last close of a context that belongs to a thread
// waits for up to DLCP_LINGER, and that of a receiving side while data is placed in GPU memory.
ResultCode close_comm(void* comm) noexcept;
ResultCode close_listen(void* listen_comm) noexcept;

// ---- memory and messages (net_transfer.cc) ----
ResultCode register_memory(void* comm, void* data, std::size_t bytes, int type,
                           void** registration) noexcept;
// `descriptor`: a dma-buf of GPU memory, which may be closed afterwards.
ResultCode register_dma_buf(void* comm, void* data, std::size_t bytes, int type,
                            std::uint64_t offset, int descriptor, void** registration) noexcept;
ResultCode deregister_memory(void* comm, void* registration) noexcept;
// Success with *request null: not now, call again. `phandle` is null if NCCL provides none.
ResultCode send(void* send_comm, void* data, std::size_t bytes, void* registration, void* phandle,
                void** request) noexcept;
ResultCode receive(void* recv_comm, int count, void** data, const std::size_t* bytes,
                   void** registrations, void** phandles, void** request) noexcept;
// Makes received data visible to the GPU; *request null: nothing to wait for.
ResultCode flush(void* recv_comm, int count, void** data, int* sizes, void** registrations,
                 void** request) noexcept;
ResultCode test(void* request, int* done, int* sizes) noexcept;

}  // namespace net
}  // namespace dlcp::nccl
