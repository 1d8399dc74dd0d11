#include "util/siphash_lanes.h"

#include <atomic>
#include <cstring>

namespace dlcp {
namespace {

// GCC's and Clang's vector type. Compilers split it where registers are shorter.
using Lanes = std::uint64_t __attribute__((vector_size(kSipLanes * sizeof(std::uint64_t))));

#define DLCP_ROTATE(lanes, bits) ((lanes) << (bits) | (lanes) >> (64 - (bits)))

// A macro, because a function with a vector as parameter has another calling convention for each
// set of instructions.
#define DLCP_SIP_ROUND()           \
  do {                             \
    v0 += v1;                      \
    v1 = DLCP_ROTATE(v1, 13) ^ v0; \
    v0 = DLCP_ROTATE(v0, 32);      \
    v2 += v3;                      \
    v3 = DLCP_ROTATE(v3, 16) ^ v2; \
    v0 += v3;                      \
    v3 = DLCP_ROTATE(v3, 21) ^ v0; \
    v2 += v1;                      \
    v1 = DLCP_ROTATE(v1, 17) ^ v2; \
    v2 = DLCP_ROTATE(v2, 32);      \
  } while (false)

[[gnu::always_inline]] inline void hash_lanes(const SipKey& key, const std::uint64_t* words,
                                              std::size_t count, std::uint64_t* hashes) {
  const Lanes zero{};
  Lanes v0 = zero + (key.low ^ 0x736f6d6570736575u);
  Lanes v1 = zero + (key.high ^ 0x646f72616e646f6du);
  Lanes v2 = zero + (key.low ^ 0x6c7967656e657261u);
  Lanes v3 = zero + (key.high ^ 0x7465646279746573u);
  for (std::size_t i = 0; i < count; ++i) {
    Lanes word;
    std::memcpy(&word, words + i * kSipLanes, sizeof word);
    v3 ^= word;
    DLCP_SIP_ROUND();
    v0 ^= word;
  }
  v2 ^= zero + 0xffu;
  for (int i = 0; i < 3; ++i)
    DLCP_SIP_ROUND();
  v0 ^= v1 ^ v2 ^ v3;
  std::memcpy(hashes, &v0, sizeof v0);
}

#undef DLCP_SIP_ROUND
#undef DLCP_ROTATE

#if defined(__x86_64__)
__attribute__((target("avx2"))) void lanes_avx2(const SipKey& key, const std::uint64_t* words,
                                                std::size_t count, std::uint64_t* hashes) {
  hash_lanes(key, words, count, hashes);
}
#endif

using LanesForm = void (*)(const SipKey&, const std::uint64_t*, std::size_t, std::uint64_t*);

void choose_and_hash(const SipKey& key, const std::uint64_t* words, std::size_t count,
                     std::uint64_t* hashes);

// As in ordered_copy: initialised with the function that replaces it.
constinit std::atomic<LanesForm> chosen_lanes{choose_and_hash};

void choose_and_hash(const SipKey& key, const std::uint64_t* words, std::size_t count,
                     std::uint64_t* hashes) {
  LanesForm best = siphash13_lanes_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) best = lanes_avx2;
#endif
  chosen_lanes.store(best, std::memory_order_relaxed);
  best(key, words, count, hashes);
}

}  // namespace

void siphash13_lanes_portable(const SipKey& key, const std::uint64_t* words, std::size_t count,
                              std::uint64_t* hashes) {
  hash_lanes(key, words, count, hashes);
}

void siphash13_lanes(const SipKey& key, const std::uint64_t* words, std::size_t count,
                     std::uint64_t* hashes) {
  chosen_lanes.load(std::memory_order_relaxed)(key, words, count, hashes);
}

}  // namespace dlcp
