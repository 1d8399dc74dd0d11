// Exchanges hosts between ranks until the fullest host or uplink carries no less. A maximum has no
// slope; the eighth powers of all loads together have one, and follow it closely.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "order/patterns.h"

namespace dlcp::order {

struct SwapLimits {
  int tries = 60'000;      // exchanges looked at
  int fruitless = 20'000;  // in a row, before giving up
};

// `order`: hosts by rank. The same seed gives the same result. Only the first round of the pattern
// counts.
std::vector<int> improve_by_swaps(const fabric::Fabric& fabric, std::vector<int> order,
                                  const Pattern& pattern, std::uint64_t seed,
                                  const SwapLimits& limits = {});

}  // namespace dlcp::order
