// Swaps hosts between ranks as long as this reduces the load of the most loaded host or uplink. The
// objective is the sum of the eighth powers of all loads: it follows the maximum closely, but
// unlike the maximum it also rewards small improvements.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "order/solve/patterns.h"

namespace dlcp::order {

struct SwapLimits {
  int tries = 60'000;      // swaps evaluated
  int fruitless = 20'000;  // swaps in a row without improvement, before the search stops
};

// `order`: hosts by rank. The same seed gives the same result. Only the first round of the pattern
// counts.
std::vector<int> improve_by_swaps(const fabric::Fabric& fabric, std::vector<int> order,
                                  const Pattern& pattern, std::uint64_t seed,
                                  const SwapLimits& limits = {});

}  // namespace dlcp::order
