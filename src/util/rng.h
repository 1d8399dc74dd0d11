// A small, seeded generator (xoshiro256**, Blackman and Vigna 2018) with the same sequence on every
// platform, which std:: distributions do not guarantee. Not for secrets.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace dlcp {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (auto& word : state_) {  // splitmix64, which the authors recommend for seeding
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); bound 0 gives 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  bool chance(double probability) { return probability > 0 && unit() < probability; }

 private:
  __extension__ using Wide = unsigned __int128;

  std::array<std::uint64_t, 4> state_;
};

}  // namespace dlcp
