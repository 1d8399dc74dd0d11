// SipHash-1-3 (siphash.h) of several messages side by side: one vector instruction works on all of
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/hash/siphash.h"

namespace dlcp {

inline constexpr std::size_t kSipLanes = 4;

// Hashes kSipLanes messages of `count` words each. words[w * kSipLanes + m] is word w of message m;
// the last word of a message holds its length (SipHash::add_last). `hashes` has kSipLanes elements.
void siphash13_lanes(const SipKey& key, const std::uint64_t* words, std::size_t count,
                     std::uint64_t* hashes);
// The same with the instructions that every processor of this architecture has.
void siphash13_lanes_portable(const SipKey& key, const std::uint64_t* words, std::size_t count,
                              std::uint64_t* hashes);

}  // namespace dlcp
