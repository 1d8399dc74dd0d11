// Bytes kept for messages without a posted receive, over all connections of the device.
#pragma once

#include <cstddef>

namespace dlcp::core {

// One connection may keep as much as is free: half of it if it is alone, an equal share if many are
// greedy.
struct UnpostedPool {
  std::size_t bytes_max = 0;
  std::size_t bytes_used = 0;
};

}  // namespace dlcp::core
