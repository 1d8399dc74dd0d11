// Memory that the processes of one case share: how they find each other, and their results.
#pragma once

#include <nccl.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace nccl_host {

inline constexpr int kRanksMax = 16;
inline constexpr int kChecksMax = 4096;
inline constexpr int kCommsMax = 8;

struct Digest {  // one result on one rank; equal on all ranks of one group
  std::uint64_t value = 0;
  int group = -1;  // -1: no result yet
};

struct World {
  std::array<ncclUniqueId, kCommsMax> ids;  // one per communicator of all ranks, in order
  std::atomic<int> ids_made = 0;
  std::atomic<int> results = 0;  // checked by all ranks: the progress of the case
  std::atomic<long> elements = 0;
  std::atomic<long> wrong = 0;
  std::atomic<long> chains = 0;  // all-reduces per channel, of all ranks
  std::atomic<long> rings = 0;
  std::array<std::array<Digest, kChecksMax>, kRanksMax> digests;
};

}  // namespace nccl_host
