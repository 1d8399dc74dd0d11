#include "order/measure/schedule.h"

#include <algorithm>

namespace dlcp::order {
namespace {

constexpr std::size_t kAsksMax = 32;  // probes of a host in a slot

}  // namespace

std::vector<std::vector<Pair>> schedule(std::vector<Pair> wanted, int hosts) {
  // The direction is arbitrary: the host with fewer probes asks.
  std::vector<std::size_t> asked(static_cast<std::size_t>(hosts));
  std::vector<std::vector<Pair>> slots;
  const bool one_pivot =
      std::ranges::all_of(wanted, [&](const Pair& pair) { return pair.to == wanted.front().to; });
  for (Pair& pair : wanted) {
    auto* from = &asked[static_cast<std::size_t>(pair.from)];
    auto* to = &asked[static_cast<std::size_t>(pair.to)];
    if (!one_pivot && *to < *from) {
      std::swap(pair.from, pair.to);
      std::swap(from, to);
    }
    const std::size_t slot = (*from)++ / kAsksMax;
    if (slot >= slots.size()) slots.resize(slot + 1);
    slots[slot].push_back(pair);
  }
  return slots;
}

}  // namespace dlcp::order
