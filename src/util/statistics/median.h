// The middle value of a set of measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dlcp {

// The middle of the sorted values, the upper of the two middle ones if their number is even;
// `if_empty` if there are none.
template <typename T>
T median(std::vector<T> values, T if_empty = T{}) {
  if (values.empty()) return if_empty;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace dlcp
