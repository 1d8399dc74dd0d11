// The inputs of a collective, of any type and operation, and the expected result: for reductions
// the one in rank order, computed by the simplest of the library's implementations. Each round
// takes its elements from another place of one endless vector, so that each reduction is computed
// only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/data/payload.h"
#include "cli/driver/reduce.h"

namespace dlcp::cli {

// One rank's check of one all-reduce with a loss budget: what is missing, how far the sums are from
// the exact ones, and a hash of the result, which must be equal on all ranks.
struct ReduceLoss {
  std::uint64_t lost = 0;     // contributions; an element of a partial sum of n ranks counts n
  std::uint64_t unequal = 0;  // elements of the result that differ from the exact sum
  std::uint64_t hash = 0;     // of the result's bits
  double squared_error = 0;   // against the exact sums
  double squared_exact = 0;   // of the exact sums
  // Direct exchange: elements that missing contributions do not explain. `lost` then counts the
  // contributions missing from the result, which is the same number on each rank.
  std::uint64_t unexplained = 0;
};

// How many times the elements of block `element` / kLossBlock are halved (Magnitudes::kByPlace).
inline constexpr std::size_t kLossBlock = 4096;
unsigned loss_halvings(std::uint64_t seed, std::size_t element);

class ReduceData {
 public:
  enum class Values {
    kAny,         // sums depend on the order, so that a wrong order shows
    kExactAlways  // sums have the same bits in any order and grouping
  };

  // For sums of floats: the same magnitudes everywhere, or blocks that are halved up to seven
  // times. Gradients differ in this way between layers; packets then differ in value to the
  // training while sums stay exact.
  enum class Magnitudes { kAlike, kByPlace };

  // Throws BenchError(kUsage) if the type cannot represent exact sums of this many ranks.
  ReduceData(const Reduction& reduction, Values values, std::uint64_t seed, int ranks,
             Magnitudes magnitudes = Magnitudes::kAlike, Data data = Data::kRandom);

  // Data::kAmp needs sums of f32 over at most this many ranks. The values are normally distributed,
  // but magnitudes below 2^-10 are zero, so that sums are exact in any order.
  static constexpr int kAmpRanksMax = 32;

  // Writes `count` elements of a rank's input, from element `first` on.
  void fill(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
            std::byte* to) const;

  static constexpr int kAllRanks = -1;
  // How many of `count` elements from element `first` on differ from the reduction of all ranks'
  // inputs, or from the input of `rank`.
  std::size_t count_wrong(std::uint64_t iteration, std::size_t first, std::size_t count,
                          const std::byte* seen, int rank = kAllRanks);

  enum class May {
    kExact,
    kLack,   // contributions may be missing (direct exchange), and are counted
    kRound,  // sums may be rounded as SwitchML rounds; larger errors are unexplained
  };
  // Compares a whole result of `count` elements.
  ReduceLoss check(std::uint64_t iteration, const std::byte* result, std::size_t count,
                   May may = May::kExact);

 private:
  template <class Word>
  void fill_words(int rank, std::size_t place, std::size_t count, std::byte* to) const;
  void fill_at(int rank, std::size_t place, std::size_t count, std::byte* to) const;
  // All ranks' inputs, at most kPiece elements; valid until the next call.
  std::span<const std::byte* const> inputs(std::size_t place, std::size_t count);
  const std::byte* reduced(std::size_t place, std::size_t count);
  void find_beyond_rounding(std::span<const std::byte* const> inputs, const std::byte* seen,
                            std::size_t count, ReduceLoss& loss) const;
  void explain(std::span<const std::byte* const> inputs, const std::byte* expected,
               const std::byte* seen, std::size_t bytes, ReduceLoss& loss) const;
  // An element's bits, made of random `bits`.
  std::uint64_t word(int rank, std::size_t place, std::uint64_t bits) const;
  std::uint64_t exact_word(int rank, std::size_t place, std::uint64_t bits) const;

  Reduction reduction_;
  Values values_;
  bool by_place_;
  bool amp_;
  std::uint64_t seed_;
  int ranks_;
  std::int64_t amplitude_;  // kExactAlways, sums of floats: the largest integer
  std::vector<std::byte> inputs_;
  std::vector<const std::byte*> input_of_;  // by rank, in inputs_
  std::vector<std::byte> reduced_;          // from place 0 on, as far as computed
};

}  // namespace dlcp::cli
