// The gradients that phantom memory stands for: a mean magnitude for every 4 KiB, log-normal, so
// that packets of licensed messages differ in importance as in training. The protocol reads
// magnitudes from it instead of the memory; the simulation computes the lost energy from it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "gradient/chunk_judge.h"
#include "simulate/protocol/phantom_memory.h"
#include "util/rng.h"

namespace dlcp::simulate {

class GradientField final : public gradient::WorthSource {
 public:
  // `spread`: standard deviation of the magnitudes' logarithm. `blind`: the protocol gets other
  // magnitudes of the same distribution, independent of the real ones.
  GradientField(PhantomMemory& memory, double spread, bool blind)
      : all_(memory.all()), magnitudes_(drawn(spread, 1)) {
    if (blind) told_ = drawn(spread, 2);
  }

  float magnitude(gradient::ElementType, std::span<const std::byte> payload) const override {
    const std::size_t block = block_of(payload.data());
    return told_.empty() ? magnitudes_[block] : told_[block];
  }
  // The sum of squares of this piece, in units of one byte at magnitude 1.
  double energy(std::span<const std::byte> piece) const {
    double sum = 0;
    while (!piece.empty()) {
      const std::size_t block = block_of(piece.data());
      const std::size_t left = (block + 1) * kPhantomBlock - offset_of(piece.data());
      const std::size_t bytes = std::min(left, piece.size());
      sum +=
          static_cast<double>(magnitudes_[block]) * magnitudes_[block] * static_cast<double>(bytes);
      piece = piece.subspan(bytes);
    }
    return sum;
  }

 private:
  static std::vector<float> drawn(double spread, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> made(kPhantomBytes / kPhantomBlock);
    for (float& one : made) {
      double normal = -6;  // the sum of twelve uniform numbers has variance 1
      for (int i = 0; i < 12; ++i)
        normal += rng.unit();
      one = static_cast<float>(std::exp(spread * normal));
    }
    return made;
  }
  std::size_t offset_of(const std::byte* place) const {
    return static_cast<std::size_t>(place - all_.data());
  }
  std::size_t block_of(const std::byte* place) const { return offset_of(place) / kPhantomBlock; }

  std::span<const std::byte> all_;
  std::vector<float> magnitudes_;
  std::vector<float> told_;  // magnitudes given to the protocol; empty: the real ones
};

}  // namespace dlcp::simulate
