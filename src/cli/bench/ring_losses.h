// What an all-reduce that may lose came to, seen from outside the plugin: which contributions are
// missing from what arrived, how far the sums are from the exact ones, and whether all ranks hold
// the same bits.
//
// Inputs are integers times a power of two that differs from one block to the next by up to 2^7, as
// gradients differ between layers: sums stay exact in fp32, and packets differ in what they are
// worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace dlcp::cli {

// One rank's view of one all-reduce.
struct ReduceLoss {
  std::uint64_t lost = 0;     // contributions: an element of a partial sum of n ranks counts n
  std::uint64_t unequal = 0;  // elements of the result that are not the exact sum
  std::uint64_t hash = 0;     // of the result's bits
  double squared_error = 0;   // against the exact sums
  double squared_exact = 0;   // of the exact sums
  // Direct exchange: elements that no sum of contributions explains. `lost` is then of the result,
  // so that each rank counts the same.
  std::uint64_t unexplained = 0;

  nlohmann::json to_json() const;
  static ReduceLoss from_json(const nlohmann::json& json);
};

// Elements of a partial sum that were replaced by zeros: runs of at least 32, as no packet is
// shorter and no run of ours is so long by chance.
std::uint64_t count_lost(const float* arrived, std::size_t count);

// Elements of block i / kLossBlock are halved so many times, that is, multiplied by the scale.
inline constexpr std::size_t kLossBlock = 4096;
unsigned loss_halvings(std::uint64_t seed, std::size_t element);
float loss_scale(std::uint64_t seed, std::size_t element);

// Of all ranks together.
struct LossReport {
  double relative_mse = 0;         // squared error over squared exact sums, all all-reduces
  double delivered_share_min = 1;  // of the contributions to one all-reduce's result
  double delivered_share = 1;      // of all
  bool ranks_identical = true;
  std::uint64_t lossy_reduces = 0;  // all-reduces with anything missing
  std::uint64_t reduces = 0;
  // In results of all-reduces that nothing is missing from; direct: unexplained.
  std::uint64_t wrong_elements = 0;
};

// `by_rank`: each rank's all-reduces, in order. `direct`: all ranks count what is lost of the
// result, instead of each what it has lost on its way. `rounds`: what is not the exact sum is wrong
// only where it is unexplained.
LossReport make_loss_report(const std::vector<std::vector<ReduceLoss>>& by_rank,
                            std::size_t elements, bool direct = false, bool rounds = false);

}  // namespace dlcp::cli
