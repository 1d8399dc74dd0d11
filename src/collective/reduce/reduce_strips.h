// Processes memory in strips whose sums stay in the first-level cache. For each strip, every input
// is read once, a few at a time, before the result is written.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "collective/reduce/reduce.h"
#include "collective/reduce/reduce_loops.h"

namespace dlcp::collective {

inline constexpr std::size_t kStripBytes = 4096;  // of the sums

struct Work {
  std::span<const std::byte* const> inputs;  // two or more
  std::size_t elements = 0;
  const CellCounts* counts = nullptr;  // null: not scaled
  std::byte* out = nullptr;
};

// `first` is the index of the element of sums[0] in the whole block.
template <class Domain>
void scale(typename Domain::Sum* sums, std::size_t first, std::size_t count, const Work& work) {
  using Sum = typename Domain::Sum;
  const std::size_t cell_elements = work.counts->cell_bytes / sizeof(typename Domain::Word);
  for (std::size_t at = 0; at < count;) {
    const std::size_t cell = (first + at) / cell_elements;
    const std::size_t end = std::min(count, (cell + 1) * cell_elements - first);
    const std::size_t present =
        cell < work.counts->present.size() ? work.counts->present[cell] : work.inputs.size();
    if (present == 0) {
      std::fill(sums + at, sums + end, Sum{0});
    } else if (present < work.inputs.size()) {
      const Sum factor = static_cast<Sum>(work.inputs.size()) / static_cast<Sum>(present);
      for (std::size_t i = at; i < end; ++i)
        sums[i] *= factor;
    }
    at = end;
  }
}

// `Form` provides fold() and store(), the loops of reduce_loops.h, for one processor.
template <class Form, class Domain, bool kScalable>
void reduce_strips(const Work& work) {
  using Sum = typename Domain::Sum;
  constexpr std::size_t kStrip = kStripBytes / sizeof(Sum);
  alignas(64) std::array<Sum, kStrip> strip;
  Sum* const sums = strip.data();
  const std::byte* const* const inputs = work.inputs.data();
  for (std::size_t first = 0; first < work.elements; first += kStrip) {
    const std::size_t count = std::min(kStrip, work.elements - first);
    const std::size_t offset = first * sizeof(typename Domain::Word);
    std::size_t done = work.inputs.size() % kInputsAtOnce;
    switch (done) {
      case 1:
        Form::template fold<Domain, 1, true>(sums, inputs, offset, count);
        break;
      case 2:
        Form::template fold<Domain, 2, true>(sums, inputs, offset, count);
        break;
      case 3:
        Form::template fold<Domain, 3, true>(sums, inputs, offset, count);
        break;
      default:
        done = kInputsAtOnce;
        Form::template fold<Domain, kInputsAtOnce, true>(sums, inputs, offset, count);
    }
    for (; done < work.inputs.size(); done += kInputsAtOnce)
      Form::template fold<Domain, kInputsAtOnce, false>(sums, inputs + done, offset, count);
    if constexpr (kScalable) {
      if (work.counts != nullptr) scale<Domain>(sums, first, count, work);
    }
    Form::template store<Domain>(sums, work.out + offset, count);
  }
}

}  // namespace dlcp::collective
