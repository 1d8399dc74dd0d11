// The two loops over elements that each implementation compiles for its processor: from a few
// inputs into sums, and from sums into memory.
#pragma once

#include <cstring>

#include "collective/reduce/reduce_domain.h"

namespace dlcp::collective {

inline constexpr std::size_t kInputsAtOnce = 4;  // inputs per read and write of a sum

template <class Domain>
inline typename Domain::Sum element_at(const std::byte* at, std::size_t index) {
  typename Domain::Word word;
  std::memcpy(&word, at + index * sizeof word, sizeof word);
  return Domain::load(word);
}

// Combines kInputs inputs, from byte `offset` on, with the values in `sums`, or only with each
// other if kFirst. The inputs are written out because compilers vectorise only loops without an
// inner loop.
template <class Domain, std::size_t kInputs, bool kFirst>
[[gnu::always_inline]] inline void fold_elements(typename Domain::Sum* __restrict sums,
                                                 const std::byte* const* inputs, std::size_t offset,
                                                 std::size_t count) {
  static_assert(kInputs >= 1 && kInputs <= kInputsAtOnce);
  const std::byte* const a = inputs[0] + offset;
  const std::byte* const b = kInputs > 1 ? inputs[1] + offset : nullptr;
  const std::byte* const c = kInputs > 2 ? inputs[2] + offset : nullptr;
  const std::byte* const d = kInputs > 3 ? inputs[3] + offset : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    auto sum = element_at<Domain>(a, i);
    if constexpr (!kFirst) sum = Domain::combine(sums[i], sum);
    if constexpr (kInputs > 1) sum = Domain::combine(sum, element_at<Domain>(b, i));
    if constexpr (kInputs > 2) sum = Domain::combine(sum, element_at<Domain>(c, i));
    if constexpr (kInputs > 3) sum = Domain::combine(sum, element_at<Domain>(d, i));
    sums[i] = sum;
  }
}

template <class Domain>
[[gnu::always_inline]] inline void store_elements(const typename Domain::Sum* __restrict sums,
                                                  std::byte* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const typename Domain::Word word = Domain::store(sums[i]);
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

}  // namespace dlcp::collective
