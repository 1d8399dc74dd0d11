#include "util/text/similar.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dlcp {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view most_similar(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongestName = 64;
  if (name.size() > kLongestName) return {};
  const std::size_t allowed = std::min<std::size_t>(1 + name.size() / 4, 4);
  std::string_view best;
  std::size_t least = allowed + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace dlcp
