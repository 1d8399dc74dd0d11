// How the order is guaranteed: each line is loaded into registers and stored front to back with a
// compiler barrier after each store. x86 makes ordinary stores visible in program order; on aarch64
// a store barrier precedes the flag. The barriers also prevent compilers from replacing the loop by
// memcpy.
#include "util/memory/ordered_copy.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dlcp {
namespace {

constexpr std::size_t kLineBytes = 128;

inline void compiler_barrier() {
  asm volatile("" ::: "memory");
}

inline void store_barrier() {
#if defined(__x86_64__)
  compiler_barrier();
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");  // outer: the observer may be a device behind PCIe
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

template <class Word>
inline void copy_word(std::byte*& destination, const std::byte*& source, std::size_t& bytes) {
  Word word;
  std::memcpy(&word, source, sizeof word);
  std::memcpy(destination, &word, sizeof word);  // of constant size: one store instruction
  compiler_barrier();
  destination += sizeof word;
  source += sizeof word;
  bytes -= sizeof word;
}

// Less than a line: whole words, then the remaining bytes, each stored once.
inline void copy_tail(std::byte* destination, const std::byte* source, std::size_t bytes) {
  while (bytes >= 8)
    copy_word<std::uint64_t>(destination, source, bytes);
  if (bytes & 4) copy_word<std::uint32_t>(destination, source, bytes);
  if (bytes & 2) copy_word<std::uint16_t>(destination, source, bytes);
  if (bytes & 1) copy_word<std::uint8_t>(destination, source, bytes);
}

void copy_portable(std::byte* destination, const std::byte* source, std::size_t bytes) {
  while (bytes >= kLineBytes) {
    std::size_t body = kLineBytes - 8;
    std::size_t flag = 8;
    while (body > 0)
      copy_word<std::uint64_t>(destination, source, body);
    store_barrier();
    copy_word<std::uint64_t>(destination, source, flag);
    bytes -= kLineBytes;
  }
  copy_tail(destination, source, bytes);
}

#if defined(__x86_64__)
inline void store16(std::byte* at, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), value);
  compiler_barrier();
}

inline __m128i load16(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// The last 16 bytes of a line are stored as two words, so that the flag is not visible first on any
// processor.
inline void store_words(std::byte* at, __m128i value) {
  const std::int64_t low = _mm_cvtsi128_si64(value);
  const std::int64_t high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value));
  std::memcpy(at, &low, sizeof low);
  compiler_barrier();
  std::memcpy(at + 8, &high, sizeof high);
  compiler_barrier();
}

void copy_sse2(std::byte* destination, const std::byte* source, std::size_t bytes) {
  for (; bytes >= kLineBytes; bytes -= kLineBytes) {
    const __m128i line[] = {load16(source),      load16(source + 16), load16(source + 32),
                            load16(source + 48), load16(source + 64), load16(source + 80),
                            load16(source + 96), load16(source + 112)};
    for (std::size_t i = 0; i < 7; ++i)
      store16(destination + 16 * i, line[i]);
    store_words(destination + 112, line[7]);
    destination += kLineBytes;
    source += kLineBytes;
  }
  copy_tail(destination, source, bytes);
}

// Packets of a message mostly arrive in order, so the destination of the next one is prefetched.
constexpr std::size_t kAheadBytes = 2048;

__attribute__((target("avx2,prfchw"))) void copy_avx2(std::byte* destination,
                                                      const std::byte* source, std::size_t bytes) {
  for (; bytes >= kLineBytes; bytes -= kLineBytes) {
    __builtin_prefetch(destination + kAheadBytes, 1);
    __builtin_prefetch(destination + kAheadBytes + kLineBytes / 2, 1);
    const auto* from = reinterpret_cast<const __m256i*>(source);
    auto* to = reinterpret_cast<__m256i*>(destination);
    const __m256i first = _mm256_loadu_si256(from);
    const __m256i second = _mm256_loadu_si256(from + 1);
    const __m256i third = _mm256_loadu_si256(from + 2);
    const __m128i fourth = load16(source + 96);
    const __m128i last = load16(source + 112);
    _mm256_storeu_si256(to, first);
    compiler_barrier();
    _mm256_storeu_si256(to + 1, second);
    compiler_barrier();
    _mm256_storeu_si256(to + 2, third);
    compiler_barrier();
    store16(destination + 96, fourth);
    store_words(destination + 112, last);
    destination += kLineBytes;
    source += kLineBytes;
  }
  copy_tail(destination, source, bytes);
}
#endif

using Copy = void (*)(std::byte*, const std::byte*, std::size_t);

Copy best_form() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") ? copy_avx2 : copy_sse2;
#else
  return copy_portable;
#endif
}

void choose_and_copy(std::byte* destination, const std::byte* source, std::size_t bytes);

// Initialised with the function that replaces it: needs no constructor, and no lock on any path.
constinit std::atomic<Copy> chosen{choose_and_copy};

void choose_and_copy(std::byte* destination, const std::byte* source, std::size_t bytes) {
  const Copy best = best_form();
  chosen.store(best, std::memory_order_relaxed);
  best(destination, source, bytes);
}

}  // namespace

void ordered_copy(std::byte* destination, const std::byte* source, std::size_t bytes) {
  chosen.load(std::memory_order_relaxed)(destination, source, bytes);
}

OrderedCopyForms ordered_copy_forms() {
#if defined(__x86_64__)
  static const OrderedCopyForm forms[] = {{"portable", copy_portable, true},
                                          {"sse2", copy_sse2, true},
                                          {"avx2", copy_avx2, __builtin_cpu_supports("avx2") != 0}};
#else
  static const OrderedCopyForm forms[] = {{"portable", copy_portable, true}};
#endif
  return {forms, sizeof forms / sizeof forms[0]};
}

}  // namespace dlcp
