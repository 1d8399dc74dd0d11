// What the gradients in phantom memory would be: a mean magnitude for every 4 KiB, log-normal, so
// that packets of licensed messages differ in worth as those of training do. The protocol asks it
// in place of the memory; the simulation asks it what was lost.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/streams/chunk_judge.h"
#include "simulate/phantom_memory.h"
#include "util/rng.h"

namespace dlcp::simulate {

class GradientField final : public core::WorthSource {
 public:
  // `spread`: standard deviation of the magnitudes' logarithm. `blind`: the protocol is told
  // others, drawn alike, that say nothing of these.
  GradientField(PhantomMemory& memory, double spread, bool blind)
      : all_(memory.all()), magnitudes_(drawn(spread, 1)) {
    if (blind) told_ = drawn(spread, 2);
  }

  float magnitude(gradient::ElementType, std::span<const std::byte> payload) const override {
    const std::size_t block = block_of(payload.data());
    return told_.empty() ? magnitudes_[block] : told_[block];
  }
  // The sum of the squares of what lies there, in units of a byte's at magnitude 1.
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
      double normal = -6;  // twelve uniform numbers have a variance of 1
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
  std::vector<float> told_;  // empty: the same
};

}  // namespace dlcp::simulate
