// The collective plugin, once: what every version of NCCL's interface comes down to, as net.h is
// for the net plugin. NCCL asks for whole all-reduces, with type and operation; they are executed
// by direct exchange between the ranks (engine/group). NCCL uses it where NCCL_COLLNET_ENABLE=1.
//
// A rank whose connect fails alone would leave the others hanging inside NCCL, so nothing fails
// alone: listen always succeeds, and says in its handle if this rank cannot; connect succeeds on
// all ranks or on none (engine/group_opening).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/abi/types.h"
#include "nccl/net.h"

namespace dlcp::nccl::collnet {

// --- the process, communicators and groups (collnet_connect.cc)
// Devices and properties are the net plugin's: NCCL compares them between ranks, and matches the
// two plugins' by name.
ResultCode init_process(DebugLogger logger) noexcept;
ResultCode init_communicator(void** context, std::uint64_t comm_id, DebugLogger logger) noexcept;
ResultCode finalize_communicator(void* context) noexcept;
// `context` null: the one of the process.
ResultCode listen(void* context, int device, void* handle, void** listen_comm) noexcept;
// Blocks, for DLCP_COLLNET_TIMEOUT and a little at most. Closes the listener if it fails, as NCCL
// then forgets it.
ResultCode connect(void* handles[], int ranks, int rank, void* listen_comm, void** group) noexcept;
// Waits for the other ranks to have what this one has reduced for them, 5 s at most.
ResultCode close_group(void* group) noexcept;
ResultCode close_listen(void* listen_comm) noexcept;

// --- memory and all-reduces (collnet.cc)
ResultCode reduce_support(int type, int op, int* supported) noexcept;
ResultCode register_memory(void* group, void* data, std::size_t bytes, int type,
                           void** registration) noexcept;
ResultCode deregister_memory(void* group, void* registration) noexcept;
// Success with *request null: not now, call again.
ResultCode all_reduce(void* group, void* input, void* result, std::size_t count, int type, int op,
                      void* input_registration, void* result_registration, void** request) noexcept;
ResultCode flush(void* group, void* data, int bytes, void* registration, void** request) noexcept;
// `bytes` may be null.
ResultCode test(void* request, int* done, int* bytes) noexcept;

}  // namespace dlcp::nccl::collnet
