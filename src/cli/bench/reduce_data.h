// What ranks put into an all-reduce of any type and operation, and what must come out: the
// reduction in rank order, by the plainest of the library's forms. Nothing is kept: any element of
// any rank is made from the seed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cli/bench/reduce.h"
#include "cli/bench/ring_losses.h"

namespace dlcp::cli {

class ReduceData {
 public:
  enum class Values {
    kAny,         // whose sums depend on the order; bits show whether it was the ranks'
    kExactAlways  // any order and grouping gives the same bits
  };

  // Of floats that are summed: alike everywhere, or other ones from block to block
  // (ring_losses.h), as gradients differ between layers, so that packets differ in what they are
  // worth.
  enum class Magnitudes { kAlike, kByPlace };

  // Throws BenchError(kUsage) where the type has too few exact numbers for so many ranks.
  ReduceData(const Reduction& reduction, Values values, std::uint64_t seed, int ranks,
             Magnitudes magnitudes = Magnitudes::kAlike);

  // `count` elements of a rank's input from element `first` on.
  void fill(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
            std::byte* to) const;
  enum class May {
    kExact,
    kLack,   // contributions of direct exchange may be missing, which are counted
    kRound,  // as SwitchML does: what is wrong by more than that has no explanation
  };
  // Compares a whole result of `count` elements.
  ReduceLoss check(std::uint64_t iteration, const std::byte* result, std::size_t count,
                   May may = May::kExact) const;

 private:
  template <class Word>
  void fill_words(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
                  std::byte* to) const;
  void find_beyond_rounding(std::span<const std::byte* const> inputs, const std::byte* seen,
                            std::size_t count, ReduceLoss& loss) const;
  void explain(std::span<const std::byte* const> inputs, const std::byte* expected,
               const std::byte* seen, std::size_t bytes, ReduceLoss& loss) const;
  // An element's bits, of random ones.
  std::uint64_t word(int rank, std::size_t element, std::uint64_t bits) const;
  std::uint64_t exact_word(int rank, std::size_t element, std::uint64_t bits) const;

  Reduction reduction_;
  Values values_;
  bool by_place_;
  std::uint64_t seed_;
  int ranks_;
  std::int64_t amplitude_;  // kExactAlways: of floats that are summed
};

}  // namespace dlcp::cli
