// What ranks put into a collective of any type and operation, and what must come out: for sums and
// the like the reduction in rank order, by the plainest of the library's forms. Round after round
// takes the elements from another place of one endless vector, so that the reductions are computed
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/driver/reduce.h"

namespace dlcp::cli {

// One rank's view of one all-reduce: what is missing from what arrived, how far the sums are from
// the exact ones, and their bits, which all ranks must have alike.
struct ReduceLoss {
  std::uint64_t lost = 0;     // contributions: an element of a partial sum of n ranks counts n
  std::uint64_t unequal = 0;  // elements of the result that are not the exact sum
  std::uint64_t hash = 0;     // of the result's bits
  double squared_error = 0;   // against the exact sums
  double squared_exact = 0;   // of the exact sums
  // Direct exchange: elements that no sum of contributions explains. `lost` is then of the result,
  // so that each rank counts the same.
  std::uint64_t unexplained = 0;
};

// Element i belongs to block i / kLossBlock, whose elements are halved so many times.
inline constexpr std::size_t kLossBlock = 4096;
unsigned loss_halvings(std::uint64_t seed, std::size_t element);

class ReduceData {
 public:
  enum class Values {
    kAny,         // whose sums depend on the order; bits show whether it was the ranks'
    kExactAlways  // any order and grouping gives the same bits
  };

  // Of floats that are summed: alike everywhere, or halved up to seven times from block to block,
  // as gradients differ between layers, so that packets differ in what they are worth and sums are
  // exact all the same.
  enum class Magnitudes { kAlike, kByPlace };

  // Throws BenchError(kUsage) where the type has too few exact numbers for so many ranks.
  ReduceData(const Reduction& reduction, Values values, std::uint64_t seed, int ranks,
             Magnitudes magnitudes = Magnitudes::kAlike);

  // `count` elements of a rank's input from element `first` on.
  void fill(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
            std::byte* to) const;

  static constexpr int kAllRanks = -1;
  // How many of `count` elements from element `first` on are not the reduction of all ranks'
  // inputs, or not the input of `rank`.
  std::size_t count_wrong(std::uint64_t iteration, std::size_t first, std::size_t count,
                          const std::byte* seen, int rank = kAllRanks);

  enum class May {
    kExact,
    kLack,   // contributions of direct exchange may be missing, which are counted
    kRound,  // as SwitchML does: what is wrong by more than that has no explanation
  };
  // Compares a whole result of `count` elements.
  ReduceLoss check(std::uint64_t iteration, const std::byte* result, std::size_t count,
                   May may = May::kExact);

 private:
  template <class Word>
  void fill_words(int rank, std::size_t place, std::size_t count, std::byte* to) const;
  void fill_at(int rank, std::size_t place, std::size_t count, std::byte* to) const;
  // All ranks' inputs of at most kPiece elements, until the next call.
  std::span<const std::byte* const> inputs(std::size_t place, std::size_t count);
  const std::byte* reduced(std::size_t place, std::size_t count);
  void find_beyond_rounding(std::span<const std::byte* const> inputs, const std::byte* seen,
                            std::size_t count, ReduceLoss& loss) const;
  void explain(std::span<const std::byte* const> inputs, const std::byte* expected,
               const std::byte* seen, std::size_t bytes, ReduceLoss& loss) const;
  // An element's bits, of random ones.
  std::uint64_t word(int rank, std::size_t place, std::uint64_t bits) const;
  std::uint64_t exact_word(int rank, std::size_t place, std::uint64_t bits) const;

  Reduction reduction_;
  Values values_;
  bool by_place_;
  std::uint64_t seed_;
  int ranks_;
  std::int64_t amplitude_;  // kExactAlways: of floats that are summed
  std::vector<std::byte> inputs_;
  std::vector<const std::byte*> input_of_;  // by rank, in inputs_
  std::vector<std::byte> reduced_;          // from place 0 on, as far as it was asked for
};

}  // namespace dlcp::cli
