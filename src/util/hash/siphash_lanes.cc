#include "util/hash/siphash_lanes.h"

#include <atomic>
#include <cstring>

namespace dlcp {
namespace {

// GCC's and Clang's vector type. Compilers split it where registers are shorter.
using Lanes = std::uint64_t __attribute__((vector_size(kSipLanes * sizeof(std::uint64_t))));

[[gnu::always_inline]] inline void hash_lanes(const SipKey& key, const std::uint64_t* words,
                                              std::size_t count, std::uint64_t* hashes) {
  SipState<Lanes, 1, 3> state(key);
  for (std::size_t i = 0; i < count; ++i) {
    Lanes word;
    std::memcpy(&word, words + i * kSipLanes, sizeof word);
    state.add(word);
  }
  std::memcpy(hashes, &state.finish(), sizeof(Lanes));
}

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
