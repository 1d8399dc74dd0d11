// Two things that NCCL cannot know: what direct exchange costs, which NCCL takes for a network that
// adds by itself; and that loss needs Ring and Simple.
//
// Steers the reductions of communicators with a budget to Ring and Simple, the only combination
// that may lose, where that costs next to nothing. Every rank must decide alike, so nothing enters
// but what is the same on all: NCCL's own arguments, and settings that connecting ranks compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nccl/abi/tuner.h"
#include "nccl/collective.h"
#include "nccl/direct_terms.h"

namespace dlcp::nccl::tuner {

struct Steering {
  std::size_t ranks = 0;
  std::size_t bytes_min = 0;  // of a message that may lose
  double margin = 0;          // by which Ring and Simple may be slower than NCCL's best
};

// The largest message, in a ring, of a collective that moves `bytes` in all.
std::size_t ring_message_bytes(std::size_t bytes, std::size_t ranks);
// Makes Ring and Simple the cheapest entry of `costs` (rows of `protocols`), or changes nothing.
// True when it did.
bool steer(const Steering& steering, Function function, std::size_t bytes, std::span<float> costs,
           std::size_t protocols);

// What an all-reduce of `bytes` takes by direct exchange, or by hubs, in microseconds, on NCCL's
// scale.
double direct_us(const DirectTerms& terms, std::size_t bytes);
// What NCCL's costs of rings lack where so much is lost as the terms permit: the repairs that a
// ring waits for, one step after the other, less those that direct exchange waits for.
double repairs_saved_us(const DirectTerms& terms, std::size_t bytes);
// How large the chunks of each channel are to be, if larger than `chunk`: in a call each owner is
// to have a block that is worth a message. NCCL takes what is smaller for a gain in latency that
// only switches have.
std::size_t chunk_bytes(const DirectTerms& terms, std::size_t bytes, std::size_t channels,
                        std::size_t chunk);
// Puts that in the place of NCCL's own costs of its CollNet algorithms, where they are allowed; or
// forbids them, between two ranks, or makes them the cheapest (DirectTerms::always).
void correct_collnet(const DirectTerms& terms, std::size_t bytes, std::span<float> costs,
                     std::size_t protocols);

// --- for the tables; all always succeed ---
// `comm_id` 0: this version does not name it, and the process's budget alone counts.
ResultCode init(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes,
                DebugLogger logger) noexcept;
ResultCode choose(void* context, int function, std::size_t bytes, float** costs, int algorithms,
                  int protocols) noexcept;
// Changes `chunk` or leaves it.
ResultCode choose_chunk(void* context, int function, std::size_t bytes, int algorithm, int channels,
                        std::size_t* chunk) noexcept;
ResultCode finalize(void* context) noexcept;

}  // namespace dlcp::nccl::tuner
