#include "cli/bench/contribution.h"

#include "cli/bench/payload.h"

namespace dlcp::cli {

std::vector<std::int8_t> contribution(std::uint64_t seed, int rank, std::size_t first,
                                      std::size_t count) {
  const std::uint64_t key = flow_key(seed, rank, rank, 0);
  std::vector<std::int8_t> values(count);
  std::uint64_t bits = mix64(key + first / 8 * 8);  // of eight elements
  for (std::size_t i = 0; i < count; i++) {
    const std::size_t element = first + i;
    if (element % 8 == 0) bits = mix64(key + element);
    values[i] = static_cast<std::int8_t>(bits >> (8 * (element % 8)));
  }
  return values;
}

}  // namespace dlcp::cli
