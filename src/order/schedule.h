// Which of the wanted pairs are measured at the same time: bursts that share a host delay each
// other, so no host asks more than a few others at once. Answering costs less.
#pragma once

#include <vector>

#include "order/measurements.h"

namespace dlcp::order {

// Slots in sequence, the pairs of each at once; all of `wanted`, each once.
std::vector<std::vector<Pair>> schedule(std::vector<Pair> wanted, int hosts);

}  // namespace dlcp::order
