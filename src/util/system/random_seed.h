// A seed for numbers that should differ between processes but need not be secret.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace dlcp {

// Never waits. If the system has no random numbers yet, the seed is an address of the stack.
inline std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
    seed = reinterpret_cast<std::uintptr_t>(&seed);
  return seed;
}

}  // namespace dlcp
