// The implementation of the collective plugin for all versions of NCCL's interface, as net.h is for
// the net plugin. NCCL passes whole all-reduces with type and operation; DLCP performs them by
// direct exchange between the ranks (engine/group). NCCL uses it if NCCL_COLLNET_ENABLE=1.
//
// If connect failed on a single rank, the other ranks would hang inside NCCL. Therefore listen
// always succeeds, and its handle states if this rank cannot take part; connect succeeds on all
// ranks or on none (engine/group/group_opening).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"
#include "nccl/net/net.h"

namespace dlcp::nccl::collnet {

// --- the process, communicators and groups (collnet_connect.cc)
//
// Devices and properties are those of the net plugin: NCCL compares them between ranks and matches
// the devices of both plugins by name.
ResultCode init_process(DebugLogger logger) noexcept;
ResultCode init_communicator(void** context, std::uint64_t comm_id, DebugLogger logger) noexcept;
ResultCode finalize_communicator(void* context) noexcept;
// If `context` is null, the group gets a context of its own.
ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept;
// Blocks for slightly more than DLCP_COLLNET_TIMEOUT at most; with hubs 1.5 times as long, with a
// switch three times as long plus 10 s. The resolution of names takes time in addition. Closes the
// listener on failure, because NCCL does not.
ResultCode connect(void* handles[], int ranks, int rank, void* listen_comm, void** group) noexcept;
// Waits up to 5 s until the other ranks have received this rank's results, and after sums in a
// switch up to 1 s until they close the group, too.
ResultCode close_group(void* group) noexcept;
ResultCode close_listen(void* listen_comm) noexcept;

// --- memory and all-reduces (collnet.cc)
ResultCode reduce_support(int type, int op, int* supported) noexcept;
ResultCode register_memory(void* group, void* data, std::size_t bytes, int type,
                           void** registration) noexcept;
ResultCode deregister_memory(void* group, void* registration) noexcept;
// Success with *request null: the call cannot start now and must be repeated.
ResultCode all_reduce(void* group, void* input, void* result, std::size_t count, int type, int op,
                      void* input_registration, void* result_registration, void** request) noexcept;
ResultCode flush(void* group, void* data, int bytes, void* registration, void** request) noexcept;
// `bytes` may be null.
ResultCode test(void* request, int* done, int* bytes) noexcept;

}  // namespace dlcp::nccl::collnet
