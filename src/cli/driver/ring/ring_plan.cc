#include "cli/driver/ring/ring_plan.h"

#include <algorithm>

namespace dlcp::cli {
namespace {

std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace

std::vector<RingStep> plan_ring(std::size_t first, std::size_t count, int rank, int ranks,
                                std::size_t element_bytes) {
  const std::size_t slice_max = kRingSliceBytes / element_bytes;
  constexpr std::size_t kAlign = 16;  // elements
  const auto k = static_cast<std::size_t>(ranks);
  const auto me = static_cast<std::size_t>(rank);
  std::vector<RingStep> steps;
  for (std::size_t done = 0; done < count;) {
    const std::size_t left = count - done;
    const std::size_t chunk = std::min(2 * slice_max, round_up((left + k - 1) / k, kAlign));
    const std::size_t slice = round_up((chunk + 1) / 2, kAlign);
    for (std::size_t j = 0; j <= 2 * (k - 1); j++) {
      const std::size_t which = (me + 2 * k - j) % k;
      const std::size_t begin = std::min(which * chunk, left);
      const std::size_t end = std::min(begin + chunk, left);
      for (std::size_t s = 0; s < 2; s++) {
        const std::size_t from = std::min(begin + s * slice, end);
        const std::size_t to = std::min(from + slice, end);
        steps.push_back({j > 0, j<2 * (k - 1), j> 0 && j < k, j + 1 >= k, first + done + from,
                         to - from, std::min(j, k)});
      }
    }
    done += std::min(left, k * chunk);
  }
  return steps;
}

}  // namespace dlcp::cli
