// Gives NCCL two facts that it does not know: the cost of direct exchange, which NCCL models as a
// network that adds, and that loss requires Ring and Simple.
//
// The tuner steers the reductions of communicators with a budget to Ring and Simple, the only
// combination that may lose data, if that costs next to nothing. All ranks must decide alike, so
// only inputs that are the same on all are used: NCCL's arguments, and settings that connecting
// ranks compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nccl/abi/tuner.h"
#include "nccl/collnet/direct_terms.h"
#include "nccl/profiler/collective.h"

namespace dlcp::nccl::tuner {

struct Steering {
  std::size_t ranks = 0;
  std::size_t bytes_min = 0;  // of a message that may lose data
  double margin = 0;          // share by which Ring and Simple may be slower than NCCL's best
};

// The largest message in a ring for a collective that moves `bytes` in total.
std::size_t ring_message_bytes(std::size_t bytes, std::size_t ranks);
// Makes Ring and Simple the cheapest entry of `costs` (rows of `protocols`), or changes nothing.
// True if it changed the costs.
bool steer(const Steering& steering, Function function, std::size_t bytes, std::span<float> costs,
           std::size_t protocols);

// The duration of an all-reduce of `bytes` by direct exchange, or by hubs, in microseconds, on
// NCCL's scale.
double direct_us(const DirectTerms& terms, std::size_t bytes);
// Addition to NCCL's cost of rings if as much is lost as the terms permit: the repairs that a ring
// waits for, one step after another, minus those that direct exchange waits for.
double repairs_saved_us(const DirectTerms& terms, std::size_t bytes);
// The chunk size of each channel, if larger than `chunk`: each owner should have a block in a call
// that is worth a message. NCCL uses smaller chunks to reduce latency, which only helps with
// switches.
std::size_t chunk_bytes(const DirectTerms& terms, std::size_t bytes, std::size_t channels,
                        std::size_t chunk);
// Replaces NCCL's own costs of its CollNet algorithms by that value: COLLNET_CHAIN is left if it is
// allowed, else COLLNET_DIRECT, else NVLS. Between two ranks it disallows all, if another algorithm
// is allowed; with DirectTerms::always it makes the one that is left the cheapest.
void correct_collnet(const DirectTerms& terms, std::size_t bytes, std::span<float> costs,
                     std::size_t protocols);

// --- for the tables; all always succeed ---
//
// `comm_id` is 0 if this version does not identify the communicator; the process's budget is used
// then.
ResultCode init(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes,
                DebugLogger logger) noexcept;
ResultCode choose(void* context, int function, std::size_t bytes, float** costs, int algorithms,
                  int protocols) noexcept;
// Changes `chunk` or keeps it.
ResultCode choose_chunk(void* context, int function, std::size_t bytes, int algorithm, int channels,
                        std::size_t* chunk) noexcept;
ResultCode finalize(void* context) noexcept;

}  // namespace dlcp::nccl::tuner
