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

// What an all-reduce of `bytes` takes by direct exchange, in microseconds, on NCCL's scale.
double direct_us(const DirectTerms& terms, std::size_t bytes);
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
ResultCode finalize(void* context) noexcept;

}  // namespace dlcp::nccl::tuner
